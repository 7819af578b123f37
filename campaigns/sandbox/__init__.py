"""Strangers' texts are read in processes that can be ended, in a fair queue that holds no thread of the server."""
