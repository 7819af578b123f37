"""Untrusted texts are read in processes that can be killed, in a fair queue that blocks no thread of the server."""
