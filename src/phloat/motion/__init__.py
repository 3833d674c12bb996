"""Initial states, simulation, results and saved runs."""
