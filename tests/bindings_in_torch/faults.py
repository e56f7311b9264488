"""Faults put into generated text, each of which the comparison has to notice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from bindings_in_torch.build import FAULTY


class Fault(NamedTuple):
    """A change in the definition of one function of linalg."""

    function: str
    old: str
    new: str

    @property
    def binding(self) -> str:
        return f"linalg.{self.function}"


FAULTS = [
    Fault("linalg_cross", "int64_t dim=-1", "int64_t dim=0"),
    Fault("linalg_matrix_power", "int64_t n,", "int64_t exponent,"),
    Fault("linalg_eigh", "get_linalg_eigh_structseq", "get_linalg_eig_structseq"),
    Fault("linalg_matmul", "at::linalg_matmul(self, other)", "at::linalg_matmul(other, self)"),
    Fault("linalg_svd", "_r.toBool(1)", "true"),
    Fault("linalg_solve_triangular", "_r.toBool(3), _r.toBool(4)", "_r.toBool(4), _r.toBool(3)"),
    Fault("linalg_vecdot", "*, int64_t dim=-1", "int64_t dim=-1, *"),
    Fault("linalg_slogdet", "return wrap(NamedTuple1,", "return wrap("),
]


def plant(generated: Path, folder: Path) -> Path:
    """A copy of the source of linalg with all faults."""
    text = (generated / FAULTY).with_suffix(".cpp").read_text()
    for fault in FAULTS:
        start = re.search(rf"^static PyObject \* THPVariable_{fault.function}\(.*\)\n\{{", text, re.MULTILINE)
        assert start is not None, fault
        end = text.index("\n}\n", start.end())
        definition = text[start.end() : end]
        assert fault.old in definition, fault
        text = text[: start.end()] + definition.replace(fault.old, fault.new) + text[end:]
    path = folder / "faulty.cpp"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path
