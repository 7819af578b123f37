"""Looking closely: single segments, metrics against people and each other, nights, how numbers are made."""
