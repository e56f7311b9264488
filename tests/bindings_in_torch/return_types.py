"""Classes of named results: each made from as many members as it has fields, and from too few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from bindings_in_torch.rows import Row
from bindings_in_torch.tables import Pair

_COUNTS = {"all fields": 0, "one too few": -1, "one too many": 1}


def calls(module: Any) -> Iterator[tuple[Pair, Row]]:
    """Of all classes that our module has; torch has no others."""
    ours, torchs = ({k: v for k, v in vars(m._return_types).items() if isinstance(v, type)} for m in (module, torch._C))
    assert ours.keys() == torchs.keys(), ours.keys() ^ torchs.keys()
    for name, kind in torchs.items():
        pair = Pair(f"return_types.{name}", ours[name], kind)
        for what, more in _COUNTS.items():
            yield pair, Row(pair.name, what, (list(range(kind.n_fields + more)),))  # type: ignore[attr-defined]
