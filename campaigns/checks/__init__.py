"""What a server adds to the checks of the library: what may be seen, what is stored, what only organisers see."""
