"""Programs as metrics."""
