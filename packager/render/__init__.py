"""Texts from templates, and the parts that HTML pages share."""
