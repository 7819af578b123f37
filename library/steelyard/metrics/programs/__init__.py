"""Any program as a metric: it is registered by an administrator, reads JSON lines and writes JSON lines."""
