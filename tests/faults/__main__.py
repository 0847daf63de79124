"""Run the courses of some seeds: `python -m tests.faults SEED [NUMBER]`."""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter

from tests.faults.course import Found, run


def main() -> int:
    """Run as many courses as the arguments say; return the number of those with a finding."""
    first, number = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    injected: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    found, start = 0, time.process_time()
    for seed in range(first, first + number):
        try:
            faults = run(seed)
        except Found as finding:
            found += 1
            print(finding)
            if number == 1:
                traceback.print_exception(finding.__cause__)
        else:
            injected += faults.injected
            checked += faults.checked
            outcomes += faults.outcomes
    seconds = time.process_time() - start
    print(f"{number} seeds, {found} with findings, {seconds:.1f} s of CPU")
    for heading, counts in (("injected", injected), ("checked", checked), ("outcomes", outcomes)):
        print(f"{heading}: {counts.total():,}")
        for kind, times in sorted(counts.items()):
            print(f"  {kind}: {times:,}")
    return found


if __name__ == "__main__":
    sys.unraisablehook = lambda _: None  # apsw reports what SQLite passes over
    sys.exit(bool(main()))
