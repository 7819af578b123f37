"""What holds for every kind of task alike."""
