"""torch's descriptions of its operators, whose samples are what is called.

Each time they are asked for, torch looks through the stack for the test that asks, with all source lines, which took
half of the time of a run: here there is none.
"""

from __future__ import annotations

from torch.testing._internal import common_utils
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core

__all__ = ["op_db"]

for module in (common_utils, core):
    module.extract_test_fn = lambda: None  # type: ignore[attr-defined]
