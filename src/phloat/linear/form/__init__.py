"""The linear port-Hamiltonian system and its equivalent forms: interconnected, second order, state space."""
