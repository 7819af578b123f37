"""Tables as text, delimited values and LaTeX, the same for every command and page."""
