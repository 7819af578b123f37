"""`steelyard doctor`: what is misconfigured here, and how to fix it."""
