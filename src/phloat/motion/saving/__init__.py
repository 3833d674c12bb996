"""Saved runs: files, formats, the recorder."""
