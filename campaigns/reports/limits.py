"""How much of a large campaign a page shows. Where something is left out, the page says so."""

MATRIX_SYSTEMS = 20
"""Systems in a matrix of differences."""
MATRIX_METRICS = 6
LINES = 6
"""Systems whose lines are drawn in one chart: more cannot be told apart."""
BREAKDOWN_SYSTEMS = 40
"""Systems in a table of scores by length, domain or reference."""
DOCUMENTS = 200
DOCUMENT_SYSTEMS = 10
EXTREMES = 5
"""Documents with the lowest and with the highest scores."""
PAIRS = 4
"""Pairs of systems whose difference is explained."""
SEGMENTS = 5
"""Segments that speak for one of two systems."""
LETTERS = 1_500
"""Of a text in a segment."""
NGRAMS = 8
"""Of each order, that one of two systems gets right."""
SCATTER_METRICS = 4
NOTICES = 100
LEADERBOARDS = 30
SMALL_GROUP = 50
"""Segments below which the score of a group says little."""
TEXT_SEGMENTS = 16_000
"""Segments of a test set beyond which no single segment and no n-gram is shown: they would need all texts at once."""
