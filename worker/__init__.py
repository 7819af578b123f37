"""Runs the tasks of the queue: shards, corpus statistics, randomization trials, reductions."""
