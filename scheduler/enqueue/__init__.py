"""From a submission and a protocol to rows that wait: reuse, corpus statistics, shards, randomization tests."""
