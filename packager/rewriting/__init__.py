"""Rewrites a graph for other numbers: the graph in memory, its weights in their files."""
