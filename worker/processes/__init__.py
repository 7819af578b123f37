"""The processes of a worker: heartbeat, watchdog, shutdown, and what becomes of dead ones."""
