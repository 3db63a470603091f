"""Reads the public declarations of generated code, and compares them: what the compilers would say of a change."""
