"""What must never go wrong, tried at length: edits, mutations, kills. Samples of it run in CI, all of it by command.

    python -m tests.never_wrong.sweep        every derivative entry and 300 functions edited: incremental equals clean
    python -m tests.never_wrong.mutations    500 mutated spec sets: the verdict and the bytes of torchgen
    python -m tests.never_wrong.mutations --python    the same for what Python bindings are made from
    python -m tests.never_wrong.kinds        39,000 keys with values of all kinds, types in all places: the same
    python -m tests.never_wrong.kills        200 killed runs: the next one equals clean
    python -m tests.never_wrong.chains       1000 edits in one chain on one cache: incremental equals clean
    python -m tests.never_wrong.damage       5000 damages of the cache: the next three runs equal clean ones
    python -m tests.never_wrong.moments      100 edits during a run: the run, the next one and going back equal clean

Each takes --count and --seed, prints its seed, and ends with a table.
"""

import sys
from pathlib import Path

# Tests import one another by plain names, as pytest lets them; so do the commands here.
TESTS = str(Path(__file__).resolve().parent.parent)
sys.path[:0] = [folder for folder in (TESTS, str(Path(TESTS).parent)) if folder not in sys.path]
