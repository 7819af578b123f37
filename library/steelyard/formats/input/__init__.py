"""Input that nobody trusts: opened, unpacked and decoded within limits."""
