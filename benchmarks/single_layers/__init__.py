"""Layers of the library and the service, each measured alone beside the machine's limits."""
