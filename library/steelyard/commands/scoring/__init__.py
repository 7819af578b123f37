"""`steelyard score`: files in, scores and tests out, in six formats."""
