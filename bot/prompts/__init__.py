"""Every text that a model sees, except persona.md."""
