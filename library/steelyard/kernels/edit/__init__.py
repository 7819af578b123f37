"""Edit distances of words and characters, with shifts of blocks, and n-grams compared by their letters."""
