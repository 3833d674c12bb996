"""Models and results in files."""
