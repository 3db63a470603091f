"""The site of the documentation, beyond what mkdocs does itself, and its pictures."""
