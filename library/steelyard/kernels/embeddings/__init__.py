"""Words compared by their vectors."""
