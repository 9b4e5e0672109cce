"""The HTTP server: pages, their API, evidence, health."""
