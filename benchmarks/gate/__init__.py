"""How many instructions workloads take, kept in the repository: docs/testing.md says how to use it."""
