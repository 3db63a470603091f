"""The table of docs/contract.md: real pictures and a voice, the same bytes on every platform, and what each answers.

`python -m tests.contract_table --write` renews it; tests/test_contract_table.py makes it anew and compares.
"""
