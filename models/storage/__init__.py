"""Arrays as bytes, in rows or in an object store."""
