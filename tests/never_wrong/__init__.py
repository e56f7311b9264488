"""What must never go wrong, tried at length: edits, mutations, kills. Samples of it run in CI, all of it by command.

    python -m tests.never_wrong.sweep        every derivative entry and 300 functions edited: incremental equals clean
    python -m tests.never_wrong.mutations    500 mutated spec sets: the verdict and the bytes of torchgen
    python -m tests.never_wrong.kills        200 killed runs: the next one equals clean

Each takes --sample and --seed, prints its seed, and ends with a table.
"""

import sys
from pathlib import Path

# Tests import one another by plain names, as pytest lets them; so do the commands here.
TESTS = str(Path(__file__).resolve().parent.parent)
sys.path[:0] = [folder for folder in (TESTS, str(Path(TESTS).parent)) if folder not in sys.path]
