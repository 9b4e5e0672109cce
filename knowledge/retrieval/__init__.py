"""From a question to gated evidence."""
