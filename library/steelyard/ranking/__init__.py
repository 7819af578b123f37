"""Every rule that orders systems, over arrays alone."""
