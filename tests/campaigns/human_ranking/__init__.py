"""Official rankings of campaigns by human judgments."""
