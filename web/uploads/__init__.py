"""Uploaded files: received within limits, parsed in the sandbox, passed on."""
