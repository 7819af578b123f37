"""`steelyard status`: the queue."""
