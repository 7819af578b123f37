"""Clipped word n-grams, and the formulas of BLEU and chrF."""
