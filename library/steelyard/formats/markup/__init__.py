"""Marked-up test sets: mteval in SGML or XML, and the XML of WMT."""
