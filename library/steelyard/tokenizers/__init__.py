"""Tokenizers: from a text to the same lines with blanks between the tokens."""
