"""Commands about human judgments."""
