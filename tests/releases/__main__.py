"""python -m tests.releases: see the package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # as pytest has it on the path
from releases import main

sys.exit(main())
