"""Commands that need no database: scores, metrics, checks, word vectors."""
