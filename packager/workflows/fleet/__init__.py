"""`mobpack fleet`: builds many projects on many workers."""
