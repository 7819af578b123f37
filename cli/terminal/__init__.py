"""What commands share with a terminal: tables, progress, prompts, files left behind."""
