"""What the texts behind a score look like: where words match, what one output gets right that another misses."""
