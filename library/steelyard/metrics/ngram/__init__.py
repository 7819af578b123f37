"""Metrics that count matched n-grams: BLEU, chrF, NIST, LeBLEU."""
