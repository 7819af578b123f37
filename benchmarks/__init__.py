"""Timings side by side with what users would pick: `python -m benchmarks.warm DIR`, `python -m benchmarks.cold DIR`."""
