"""What speed users get: docs/explanation/performance.md says which module measures what, and what came out."""
