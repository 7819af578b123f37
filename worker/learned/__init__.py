"""Learned workers: one process a device, which keeps its model or program, and looks for its tasks itself."""
