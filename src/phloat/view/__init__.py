"""Pictures of systems and results."""
