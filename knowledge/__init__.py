"""Reads documents and code, and finds evidence in them. Never imports `bot`; its only door is `knowledge.api`."""
