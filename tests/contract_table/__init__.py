"""The table of docs/contract.md: real pictures, texts and a voice, the same bytes everywhere, and all answers.

`python -m tests.contract_table --write` renews it; tests/test_contract_table.py makes it anew and compares.
"""
