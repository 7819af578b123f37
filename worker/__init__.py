"""Claims shards, scores them, reduces what is complete."""
