"""Task messages: the queues of the broker, how messages look, and how they are read."""
