"""Logarithm, exponential and power, correctly rounded."""
