"""`ufunc_inner_loop:`, the scalar and vector loops that elementwise kernels are generated from.

torchgen: `model.UfuncInnerLoop.parse`.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.model.keys import LINE
from gradmill.model.native import UfuncLoop
from gradmill.problems.problem import SpecError, nearest
from gradmill.releases.elsewhere import dated
from gradmill.releases.model import Release


def parse_ufunc(raw: object, release: Release) -> dict[str, UfuncLoop]:
    """The loops by ufunc key. A bare `name (dtypes)` is the generic loop. Raises a SpecError."""
    if isinstance(raw, str):
        return {"Generic": _loop(raw, (), release)}
    if not isinstance(raw, dict):
        raise SpecError(f"ufunc_inner_loop is neither text nor a mapping: {raw!r}")
    loops = {}
    for key, value in ((key, value) for key, value in raw.items() if key != LINE):
        if not isinstance(key, str) or not isinstance(value, str):
            raise SpecError(f"illegal ufunc_inner_loop row {key!r}: {value!r}")
        if key not in release.ufunc_loops:
            hint = nearest(key, release.ufunc_loops)
            raise SpecError(f"unknown ufunc key '{key}'", hint, field=(key,), at_key=True)
        loops[key] = _loop(value, (key,), release)
    return loops


def _loop(text: str, field: tuple[str, ...], release: Release) -> UfuncLoop:
    name, _, dtypes = text.partition(" ")
    if not dtypes.startswith("(") or not dtypes.endswith(")"):
        raise SpecError(f"malformed loop '{text}'", "write name (Dtype, Dtype)", field=field)
    expanded = [each for dtype in dtypes[1:-1].split(", ") for each in _dtypes(dtype, field, release)]
    return UfuncLoop(name, tuple(dict.fromkeys(expanded)))


def _dtypes(name: str, field: tuple[str, ...], release: Release) -> Iterable[str]:
    """The dtypes of a class, or one."""
    if name in release.dtypes and name not in release.dtype_classes:
        return (name,)
    if name not in release.dtype_classes:
        known = release.dtypes | release.dtype_classes.keys()
        error = SpecError(f"unknown dtype '{name}'", nearest(name, known), field=field, needle=name)
        raise dated(error, lambda other: name in other.dtypes)
    return release.dtype_classes[name]
