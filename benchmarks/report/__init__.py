"""What benchmarks found, as tables, charts, aims and the page docs/explanation/performance.md."""
