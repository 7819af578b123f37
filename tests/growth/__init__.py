"""How the work grows with a hostile text: counted in instructions, never in seconds."""
