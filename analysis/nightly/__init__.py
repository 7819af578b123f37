"""Whether a system got worse: baselines, tests and change points of scheduled runs."""
