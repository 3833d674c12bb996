"""Control on ports, and the way to other tools and back."""
