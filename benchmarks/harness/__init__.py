"""What benchmarks run on and measure with: campaigns, servers, processes, pairs of turns."""
