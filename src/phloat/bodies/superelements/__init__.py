"""Bodies from the matrices of other codes."""
