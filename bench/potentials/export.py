"""Exports a potential in both ways, with its state and data: `python -m bench.potentials.export NAME FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import Tensor

from bench.potentials import zoo

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
sys.path[:0] = [str(EXAMPLES / "forces"), str(EXAMPLES / "graphs")]

import model as example  # noqa: E402

SIZES = ((40, 25, 40), (27,), (16, 30))


def frames(name: str) -> list[dict[str, Tensor]]:
    """Batches of structures of several sizes, with random energies, forces and stresses."""
    zoo.made(name)  # its dtype is the default one from here on
    torch.manual_seed(1)
    found = []
    for sizes in SIZES:
        frame = dict(zip(example.NAMES, example.structures(*sizes)))
        wanted = {"energies": frame["cells"][:, 0, 0], "forces": frame["positions"], "stresses": frame["cells"]}
        found.append({**frame, **{key: torch.randn_like(each) for key, each in wanted.items()}})
    return found


def main(name: str, folder: Path) -> None:
    data, model = frames(name), zoo.made(name)
    for which, program in example.exported(model, data[0]).items():
        (folder / which).mkdir(parents=True, exist_ok=True)
        torch.export.save(program, folder / which / f"{which}.pt2")
        specs = [spec for spec in program.graph_signature.input_specs if spec.target is not None]
        (folder / which / "inputs.json").write_text(json.dumps([(spec.kind.name, spec.target) for spec in specs]))
    example.save_data(folder, model, data)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
