"""What people type into fields, checked."""
