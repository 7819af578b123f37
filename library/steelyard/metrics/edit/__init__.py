"""Metrics that count edits: WER, PER, TER, CharacTER."""
