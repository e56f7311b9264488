"""Exports one model: `python -m bench.models.export NAME FOLDER BATCH DEVICE`.

Writes NAME.pt2 without weights, which gradmill does not read; `inputs.json`, the kind and the name of each input of
the graph; `constants.pt`, the tensors that the model creates.
"""

from __future__ import annotations

import json
import sys
import warnings
import zipfile
from pathlib import Path

import torch

from bench.models import zoo


def main(name: str, folder: Path, batch: int, device: str) -> None:
    warnings.simplefilter("ignore")
    program = torch.export.export(zoo.model(name, device), zoo.inputs(name, batch, device))
    whole = folder / "whole.pt2"
    torch.export.save(program, whole)
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(folder / f"{name}.pt2", "w") as target:
        for member in archive.namelist():
            if "/data/" not in member or member.endswith(".json"):
                target.writestr(member, archive.read(member))
    whole.unlink()
    specs = program.graph_signature.input_specs
    inputs = [(spec.kind.name, spec.target or spec.arg.name) for spec in specs]
    (folder / "inputs.json").write_text(json.dumps(inputs))
    torch.save(program.constants, folder / "constants.pt")
    calls = sum(node.op == "call_function" for node in program.graph.nodes)
    parameters = sum(each.numel() for each in program.parameters())
    print(json.dumps({"calls": calls, "parameters": parameters}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
