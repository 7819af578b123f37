"""Drills: what an operator may have to live through: nothing is lost or doubled, and all bits are the same."""
