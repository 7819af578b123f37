"""Commands that show and steer the queue."""
