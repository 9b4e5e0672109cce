"""Stand-ins that pass the same contract tests as what they stand for."""
