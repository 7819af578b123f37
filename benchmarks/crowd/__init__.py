"""Many workers that compute nothing, against a real PostgreSQL and Redis: what the queue itself costs."""
