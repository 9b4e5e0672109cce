"""Numbered SQL files, applied in order; `user_version` of a database says how many of them it has seen."""
