"""How many instructions workloads take, kept in the repository: docs/how-to/testing.md says how to use it."""
