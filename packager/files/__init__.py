"""Files on disk: written whole or not at all, replaced, zipped, hashed, and stored by content (`store/`)."""
