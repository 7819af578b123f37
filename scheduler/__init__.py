"""Enqueues work, sends it in fair shares, and recovers lost tasks."""
