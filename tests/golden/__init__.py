"""Packages as mobpack writes them, reviewed like source: one folder for each case and target."""
