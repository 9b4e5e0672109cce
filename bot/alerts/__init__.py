"""Alerts: from a payload or a post to parsed faults, their fingerprints, an analysis in the thread, and memory."""
