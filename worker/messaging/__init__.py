"""Task messages: the broker's queues, the format of messages, and how they are read."""
