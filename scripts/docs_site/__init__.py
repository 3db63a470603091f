"""The documentation site, beyond mkdocs itself, and its pictures."""
