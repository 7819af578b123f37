"""Texts on their way to metrics: checked, sliced, prepared once, timed, their scores kept by content."""
