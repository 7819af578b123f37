"""Reads how far work is: for people who watch, and for telemetry."""
