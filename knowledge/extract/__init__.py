"""From the bytes of one format to blocks in reading order."""
