"""Places that hold documents or code: one adapter a file."""
