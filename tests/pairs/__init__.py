"""Every pair of settings, each held against what must hold in any setting.

    python -m tests.pairs                    all pairs of all values, and how many there are
    python -m tests.pairs --quick            those of the default tests
    python -m tests.pairs --seed S           in other company: the values in another order
    python -m tests.pairs --only TEXT        the cases whose name has the text

`settings.py` is the table: a setting is a row in it. `sets.py` makes the spec sets, `work.py` runs a case in its own
folder, `hold.py` says what must hold, `reading.py` reads generated files and reports.
"""

import sys
from pathlib import Path

# Tests import one another by plain names, as pytest lets them; so do the commands here.
TESTS = str(Path(__file__).resolve().parent.parent)
sys.path[:0] = [folder for folder in (TESTS, str(Path(TESTS).parent)) if folder not in sys.path]
