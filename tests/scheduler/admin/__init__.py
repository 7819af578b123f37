"""Evaluations cancelled, retried and requeued by hand."""
