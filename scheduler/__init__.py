"""Gives out work: enqueues it, sends it in fair shares, and recovers what was lost."""
