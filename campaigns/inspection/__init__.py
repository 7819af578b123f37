"""Detailed views: segments, metrics against human judgments and each other, scheduled runs, the queue, methods."""
