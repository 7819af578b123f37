"""How well metrics agree with people: correlations, agreement of pairs, and tests between two metrics.

Scores of metrics come oriented: error rates are negated, so that higher is better on both sides. Missing ones are NaN.
"""
