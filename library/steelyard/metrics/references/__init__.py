"""Several references of a segment: their average length, which one serves best, and words shared with them."""
