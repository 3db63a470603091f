"""Tokenizers in graphs beside those of Hugging Face: real ones, on many texts."""
