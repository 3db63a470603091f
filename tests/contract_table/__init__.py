"""Answers to real pictures, texts and a voice, the same bytes everywhere: benchmarks/results/contract_table.md.

`python -m tests.contract_table --write` renews it; tests/nightly/test_contract_table.py makes it anew and compares.
"""
