"""Linear algebra and small helpers that all other folders use."""
