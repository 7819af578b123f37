"""Readers of what strangers send, given what a fuzzer makes up: a result or a MetricsError, and nothing else."""
