"""Counts of all n-grams of the references, and the information weights made of them."""
