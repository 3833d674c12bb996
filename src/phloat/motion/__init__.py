"""How a system comes to stand and to move."""
