"""Test sets of campaigns: stored and bound to phases, and read from files."""
