"""Bodies and joints as one system, its state, and the paper's matrices at a state."""
