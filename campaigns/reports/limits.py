"""How much of a large campaign a page shows. Pages say what they leave out."""

MATRIX_SYSTEMS = 20
"""Systems in a matrix of differences."""
MATRIX_METRICS = 6
LINES = 6
"""Systems in one chart: more lines cannot be distinguished."""
BREAKDOWN_SYSTEMS = 40
"""Systems in a table of scores by length, domain or reference."""
DOCUMENTS = 200
DOCUMENT_SYSTEMS = 10
EXTREMES = 5
"""Documents with the lowest and with the highest scores."""
PAIRS = 4
"""Pairs of systems whose difference is explained."""
SEGMENTS = 5
"""Segments in favour of one of two systems."""
LETTERS = 1_500
"""Of a text in a segment, in characters."""
NGRAMS = 8
"""Of each order, that one of two systems gets right."""
SCATTER_METRICS = 4
SCATTER_SYSTEMS = 60
"""Systems in charts of metrics against each other: as many as have names there."""
HUMAN_RANKINGS = 4
"""Judgments of a test set that rank its systems."""
NOTICES = 100
LEADERBOARDS = 30
SMALL_GROUP = 50
"""Segments below which the score of a group says little."""
TEXT_SEGMENTS = 16_000
"""Segments of a test set beyond which no segments and n-grams are shown: they would need all texts in memory."""
