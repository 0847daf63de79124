"""Mutants: one line of a copy of the tree is changed, and a check of the product has to fail.

The tables are `defaults.jsonl`, `features.jsonl` and `audit.jsonl` beside this file.
"""
