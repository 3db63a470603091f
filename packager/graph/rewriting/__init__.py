"""Rewrites a graph to another precision: the graph in memory, its weights in their files."""
