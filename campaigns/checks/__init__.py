"""What is odd about an output, said before anything is queued: pure functions, and one reader of what they need."""
