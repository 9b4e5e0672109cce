"""Embedders: the bundled ones and Ollama."""
