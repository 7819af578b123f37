"""A whole campaign from a zip: an export of this program, or a folder of many language pairs."""
