"""Child processes: how they start and end, how they answer, and how pinned ones are fetched."""
