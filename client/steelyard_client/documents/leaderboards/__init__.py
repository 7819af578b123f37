"""Scores side by side: leaderboards, comparisons, matrices, segments, human judgments, scores made elsewhere."""
