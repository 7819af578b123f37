"""Notices as people see them: which they get, how they choose, and what organisers announce."""
