"""Linear port-Hamiltonian systems: what they are, how they join, and what can be asked of them."""
