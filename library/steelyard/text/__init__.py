"""What all readers and metrics know of text: blocks, languages, names, limits, and how problems are worded."""
