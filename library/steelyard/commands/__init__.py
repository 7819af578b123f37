"""The command `steelyard`: its root, and the verbs that need no database."""
