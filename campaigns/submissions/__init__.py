"""Outputs on their way in: received, unpacked, looked at, handed in; and what is told of them afterwards."""
