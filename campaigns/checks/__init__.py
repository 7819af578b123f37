"""What a server adds to the checks of the library: what may be seen, what is stored, what organisers alone are told."""
