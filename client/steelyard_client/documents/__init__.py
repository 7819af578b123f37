"""The documents of the API: what it takes and sends, what the client returns, one file for each subject."""
