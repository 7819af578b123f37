"""Learned shards and workers."""
