"""Exports of a campaign: everything as tables and texts, and the layout of mt-metrics-eval."""
