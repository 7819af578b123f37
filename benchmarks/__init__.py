"""What speed users get: docs/performance.md says which module measures what, and what came out."""
