"""The payloads of alerting systems: one file a format, each a function from a JSON object to what it tells."""
