"""A store on a disk that fails, by seed: `python -m tests.faults SEED` runs one course again."""
