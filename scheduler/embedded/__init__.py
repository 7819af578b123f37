"""Scheduler and worker in one command, for one machine."""
