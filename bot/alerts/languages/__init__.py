"""How each language prints its stack traces: one reader a way of printing."""
