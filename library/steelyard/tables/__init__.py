"""Tables as text, delimited values and LaTeX, the same for every command and page."""

FORMATS = ("text", "markdown", "tsv", "csv", "json", "latex", "html")
"""The formats of every table, as -f takes them."""
