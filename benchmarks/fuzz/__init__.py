"""Fuzzing of what reads files of others: each input works, or ends in an error of mobpack's own."""
