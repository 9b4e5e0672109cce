"""Calibrations that come with the program, one JSON file each."""
