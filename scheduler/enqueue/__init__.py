"""From a submission and a protocol to waiting rows: reuse, corpus statistics, shards, randomization tests."""
