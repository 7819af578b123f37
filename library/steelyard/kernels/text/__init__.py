"""Texts: validated, lowercased, cut into lines and words, and words turned into numbers."""
