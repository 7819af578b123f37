"""The life cycle of leased tasks, and of the evaluations that wait for them."""
