"""python -m tests.releases: see the package."""

import sys

from tests.releases import main

sys.exit(main())
