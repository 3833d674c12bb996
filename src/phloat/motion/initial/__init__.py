"""Initial states: positions, velocities, equilibrium, settled deformation."""
