"""What is behind a score: parts of the test set, segments, n-grams, texts."""
