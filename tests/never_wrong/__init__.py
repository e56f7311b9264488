"""What must never go wrong, tried at length: edits, mutations, kills. `python -m tests.campaigns` runs all of it."""

import sys
from pathlib import Path

# Tests import one another by plain names, as pytest lets them; so do the commands here.
TESTS = str(Path(__file__).resolve().parent.parent)
sys.path[:0] = [folder for folder in (TESTS, str(Path(TESTS).parent)) if folder not in sys.path]
