"""Operators that a backend lists in supported although autograd differentiates what they call: the gradient is lost."""

from __future__ import annotations

import re
from pathlib import Path

import forked

HEAD = "backend: PrivateUse1\ncpp_namespace: toy\n"
LOST = ("layer_norm", "dropout", "reshape", "to.dtype_layout", "relu6")
RIGHT = (
    *("relu", "native_layer_norm", "add.Tensor", "linear", "matmul"),  # with derivatives, or with a kernel for autograd
    *("is_complex", "isfinite", "result_type.Tensor"),  # without a gradient
)


def cache(folder: Path) -> str:
    """One for all tests: what is known of torch's operators is computed once."""
    return f"cache={folder.parent / 'lost-gradient'}"


def warnings(folder: Path, text: str, *words: str) -> list[str]:
    (folder / "backend.yaml").write_text(HEAD + text)
    variables = ["specs=torch", "families=backend_stubs", "backend_yaml=backend.yaml", "generated=out", cache(folder)]
    return re.findall(r"^backend.yaml:.*$", forked.gradmill([*variables, *words], folder).ok().stderr, re.MULTILINE)


def listed(key: str, names: tuple[str, ...]) -> str:
    return f"{key}:\n" + "".join(f"  - {name}\n" for name in names)


def test_a_composite_under_supported_is_a_warning_at_its_line(tmp_path: Path) -> None:
    found = warnings(tmp_path, listed("supported", (*RIGHT, *LOST)))
    assert [re.sub(r"; .*|: with .*", "", line) for line in found] == [
        f"backend.yaml:{4 + len(RIGHT) + i}:5: warning: {name}: '{name}' is CompositeImplicit"
        for i, name in enumerate(LOST)
    ]
    assert all(line.endswith("[lost-gradient]") for line in found)


def test_under_autograd_it_is_right(tmp_path: Path) -> None:
    assert warnings(tmp_path, listed("supported", RIGHT[:3]) + listed("autograd", LOST)) == []


def test_a_reason_silences_it(tmp_path: Path) -> None:
    reason = "# gradmill: ignore lost-gradient for inference alone"
    text = f"supported:\n  - relu\n  {reason}\n  - dropout\n  - reshape  {reason}\n"
    assert warnings(tmp_path, text) == []
    (unused,) = warnings(tmp_path, text.replace("dropout", "abs"))
    assert unused.startswith("backend.yaml:5:3: warning: this silences nothing: the line has no warning [lost-gradi")
    (unreasoned,) = warnings(tmp_path, text.replace("gradient for inference alone\n  - dropout", "gradient\n  - abs"))
    assert "this has no reason" in unreasoned


def test_a_description_silences_it_for_operators(tmp_path: Path) -> None:
    (tmp_path / "backend.yaml").write_text(HEAD + "supported:\n  - dropout\n  - reshape\n")
    ignore = '[[ignore]]\nrule = "lost-gradient"\nreason = "for inference"\nentries = "dropout"\n'
    text = f'name = "t"\nbase = "torch"\nfamilies = ["backend_stubs"]\n[[backend]]\nfile = "backend.yaml"\n{ignore}'
    (tmp_path / "specset.toml").write_text(text)
    run = forked.gradmill(["specs=.", "generated=out", cache(tmp_path)], tmp_path).ok()
    assert re.findall("warning: ([a-z]+)", run.stderr) == ["reshape"]
