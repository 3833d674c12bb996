"""Schemes of time integration, one a file; `simulate(…, scheme=…)` takes any of them."""
