"""A small interatomic potential, for a C++ program that trains it on energies, forces and stresses.

`python model.py FOLDER` exports it: FOLDER gets potential.pt2, which computes all three, energy.pt2, which computes
energies, the state of the model and the data. `python model.py FOLDER --check` compares what the program predicts with
what the model does in Python, from the state that the program has saved.
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram
from traced import Traced

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "graphs"))

from tensors import load, save

CUTOFF, KINDS, WIDTH, WAVES = 3.0, 3, 16, 8
NAMES = ("positions", "numbers", "edges", "shifts", "cells", "batch")

Energies = Callable[..., Tensor]


class Potential(nn.Module):
    """Energies of structures: messages between neighbours, weighted by functions of their distance.

    Atoms of all structures follow one another; `batch` has the structure of each. `edges[0]` are the neighbours of the
    atoms `edges[1]`, moved by `shifts` cells. `strain` deforms a structure, for the stress.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kinds = nn.Embedding(KINDS, WIDTH)
        self.register_buffer("waves", torch.arange(1, WAVES + 1) * (math.pi / CUTOFF), persistent=False)
        self.radial = nn.Sequential(nn.Linear(WAVES, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH, bias=False))
        self.update = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.out = nn.Linear(WIDTH, 1)

    def forward(
        self,
        positions: Tensor,
        strain: Tensor,
        numbers: Tensor,
        edges: Tensor,
        shifts: Tensor,
        cells: Tensor,
        batch: Tensor,
    ) -> Tensor:
        source, target = edges[0], edges[1]
        vectors = positions[source] - positions[target] + torch.einsum("ei,eij->ej", shifts, cells[batch[target]])
        strain = (strain + strain.transpose(1, 2)) / 2
        vectors = vectors + torch.einsum("ei,eij->ej", vectors, strain[batch[target]])
        lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
        inside = torch.where(lengths < CUTOFF, 0.5 * torch.cos(lengths * (math.pi / CUTOFF)) + 0.5, 0.0)
        weights = self.radial(torch.sin(lengths * self.waves) / lengths) * inside
        x = self.kinds(numbers)
        x = x + self.update(torch.zeros_like(x).index_add(0, target, x[source] * weights))
        x = x + self.update(torch.zeros_like(x).index_add(0, target, x[source] * weights))
        of_atoms = self.out(F.silu(x)).squeeze(-1)
        return of_atoms.new_zeros(cells.shape[0]).index_add(0, batch, of_atoms)


def predict(
    energy: Energies, positions: Tensor, numbers: Tensor, edges: Tensor, shifts: Tensor, cells: Tensor, batch: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Energies, forces and stresses."""
    positions, strain = positions.requires_grad_(), torch.zeros_like(cells).requires_grad_()
    energies = energy(positions, strain, numbers, edges, shifts, cells, batch)
    by_positions, by_strain = torch.autograd.grad(energies.sum(), (positions, strain), create_graph=True)
    return energies, -by_positions, by_strain / torch.linalg.det(cells).abs()[:, None, None]


def structures(*sizes: int) -> tuple[Tensor, ...]:
    """Random structures with periodic boundaries, and who is near to whom: the inputs of `predict`."""
    found: list[tuple[Tensor, ...]] = []
    images = torch.cartesian_prod(*[torch.arange(-1.0, 2.0)] * 3)
    for number, size in enumerate(sizes):
        side = math.ceil(size ** (1 / 3))
        sites = torch.cartesian_prod(*[torch.arange(0.0, side)] * 3)[torch.randperm(side**3)[:size]]
        cell = torch.eye(3) * 1.8 * side + 0.1 * torch.randn(3, 3)
        places = (sites + 0.15 * torch.randn(size, 3)) / side @ cell
        distances = (places[:, None] + images[:, None, None] @ cell - places).norm(dim=-1)
        image, source, target = torch.where((distances < CUTOFF) & (distances > 0))
        edges = torch.stack([source, target]) + sum(sizes[:number])
        numbers, batch = torch.randint(KINDS, (size,)), torch.full((size,), number)
        found.append((places, numbers, edges, images[image], cell[None], batch))
    return tuple(torch.cat(each, 1 if name == "edges" else 0) for name, each in zip(NAMES, zip(*found)))


def made() -> Potential:
    """The model, with the same weights each time."""
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    return Potential()


def frames() -> list[dict[str, Tensor]]:
    """Batches of structures, with energies, forces and stresses that another potential has."""
    teacher = made()
    with torch.no_grad():
        for parameter in teacher.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    found = []
    for sizes in ((5, 8), (6,), (9, 4, 7), (7, 5)):
        inputs = structures(*sizes)
        wanted = (each.detach() for each in predict(teacher, *(each.clone() for each in inputs)))
        found.append(dict(zip((*NAMES, "energies", "forces", "stresses"), (*inputs, *wanted))))
    return found


def exported(model: nn.Module, frame: dict[str, Tensor]) -> dict[str, ExportedProgram]:
    """The model as a program of energies, forces and stresses, `potential`, and as one of energies, `energy`."""
    positions, *others = inputs = tuple(frame[name] for name in NAMES)
    atoms, edges, count = {0: Dim("atoms")}, Dim("edges"), {0: Dim("structures")}
    dims = (atoms, {1: edges}, {0: edges}, count, atoms)
    potential = torch.export.export(Traced(predict, model, inputs), inputs, dynamic_shapes=((atoms, *dims),))
    strained = (positions, torch.zeros_like(frame["cells"]), *others)
    energy = torch.export.export(model, strained, dynamic_shapes=(atoms, count, *dims))
    return {"potential": potential, "energy": energy}


def save_data(folder: Path, model: nn.Module, data: list[dict[str, Tensor]]) -> None:
    """Writes what the program reads."""
    buffers = {name: each for name, each in model.named_buffers() if name not in model.state_dict()}
    save(folder / "start.safetensors", model.state_dict())
    save(folder / "constants.safetensors", buffers)
    save(folder / "data.safetensors", {f"{i}.{name}": each for i, one in enumerate(data) for name, each in one.items()})


def export(folder: Path) -> None:
    """Writes all that the program needs."""
    model, data = made(), frames()
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in exported(model, data[2]).items():
        torch.export.save(program, folder / f"{name}.pt2")
    save_data(folder, model, data)


def check(folder: Path) -> None:
    """Prints how far the program's last predictions are from those of the model with the trained state."""
    model = made()
    model.load_state_dict(load(folder / "trained.safetensors"))
    data, predicted = load(folder / "data.safetensors"), load(folder / "predicted.safetensors")
    inputs = (data[f"0.{name}"] for name in NAMES)
    for name, expected in zip(("energies", "forces", "stresses"), predict(model, *inputs)):
        print(f"{name}: {(expected - predicted[name]).abs().max():.1e} from Python's")


if __name__ == "__main__":
    if "--check" in sys.argv[2:]:
        check(Path(sys.argv[1]))
    else:
        export(Path(sys.argv[1]))
