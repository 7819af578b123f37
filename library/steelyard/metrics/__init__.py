"""The contract of metrics, what they share, and the metrics by family."""
