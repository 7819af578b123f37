"""Messages about scheduled runs, signed, to addresses that were checked."""
