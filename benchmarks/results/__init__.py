"""Newest figures of the benchmarks, a page for each, and the program that writes the pages."""
