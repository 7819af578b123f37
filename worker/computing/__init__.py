"""The computations of tasks, on texts and statistics alone: shards, corpus statistics, randomization, reductions."""
