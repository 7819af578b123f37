"""Small faults put into the code, one at a time: does a test fail? `make mutants`; docs/how-to/testing.md."""
