"""Releases on their way to users: the files in `dist/`, what is said of them, where they go, how they change."""
