"""Files on disk: written whole or not at all, replaced, zipped, hashed, and kept by content (`store/`)."""
