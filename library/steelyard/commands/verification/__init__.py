"""`steelyard verify`: published scores computed again from texts, and what differs."""
