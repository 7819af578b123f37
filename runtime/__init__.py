"""What every process needs whatever it does: settings, logging, health, telemetry, private files."""
