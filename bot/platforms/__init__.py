"""Chat platforms: one adapter a file; nothing of a platform leaves its adapter."""
