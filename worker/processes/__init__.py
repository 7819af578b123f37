"""The processes of a worker: heartbeat, watchdog, shutdown, and recovery from dead processes."""
