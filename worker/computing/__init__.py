"""What tasks compute, from texts and statistics alone: shards, corpus statistics, randomization, reductions."""
