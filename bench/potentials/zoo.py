"""Potentials like SchNet, NequIP and MACE, small and in plain torch, in double precision.

Each takes what the example's potential takes (`examples/forces/model.py`), and returns the energies of structures.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CUTOFF, KINDS = 3.0, 3


class Near(nn.Module):
    """Vectors from atoms to their neighbours, under strain, and functions of their lengths."""

    def __init__(self, waves: int) -> None:
        super().__init__()
        self.register_buffer("waves", torch.arange(1, waves + 1) * (math.pi / CUTOFF), persistent=False)
        self.register_buffer("centres", torch.linspace(0, CUTOFF, waves), persistent=False)

    def forward(
        self, positions: Tensor, strain: Tensor, edges: Tensor, shifts: Tensor, cells: Tensor, batch: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The vectors and their lengths."""
        strain = (strain + strain.mT) / 2
        structures = batch.index_select(0, edges[1])
        moved = torch.einsum("ei,eij->ej", shifts, cells[structures])
        vectors = positions.index_select(0, edges[0]) - positions.index_select(0, edges[1]) + moved
        vectors = vectors + torch.bmm(vectors.unsqueeze(1), strain[structures]).squeeze(1)
        return vectors, vectors.norm(dim=-1, keepdim=True)

    def gaussians(self, lengths: Tensor) -> Tensor:
        """Gaussians at equal distances, times a cosine that is zero at the cutoff."""
        inside = torch.where(lengths < CUTOFF, 0.5 * (torch.cos(lengths * (math.pi / CUTOFF)) + 1), 0.0)
        return torch.exp(-4.0 * (lengths - self.centres) ** 2) * inside

    def bessel(self, lengths: Tensor) -> Tensor:
        """Bessel functions, times a polynomial that is zero at the cutoff, as are its derivatives."""
        x = (lengths / CUTOFF).clamp(max=1.0)
        envelope = 1 - 28 * x.pow(6) + 48 * x.pow(7) - 21 * x.pow(8)
        return math.sqrt(2 / CUTOFF) * torch.sin(lengths * self.waves) / lengths * envelope


class SchNet(nn.Module):
    """Continuous filters: messages are features of neighbours times functions of the distance."""

    def __init__(self, width: int = 64, layers: int = 2) -> None:
        super().__init__()
        self.near, self.kinds = Near(20), nn.Embedding(KINDS, width)
        self.filters = nn.ModuleList(_mlp(20, width, width, nn.Softplus()) for _ in range(layers))
        self.before = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers))
        self.after = nn.ModuleList(_mlp(width, width, width, nn.Softplus()) for _ in range(layers))
        self.out = _mlp(width, width // 2, 1, nn.Softplus())

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
        _, lengths = self.near(positions, strain, edges, shifts, cells, batch)
        radial = self.near.gaussians(lengths)
        x = self.kinds(numbers)
        for weigh, before, after in zip(self.filters, self.before, self.after):
            messages = before(x).index_select(0, edges[0]) * weigh(radial)
            x = x + after(torch.zeros_like(x).index_add(0, edges[1], messages))
        return _of_structures(self.out(x), cells, batch)


class NequIP(nn.Module):
    """Features that rotate: scalars, vectors and products of these, gated by scalars."""

    def __init__(self, width: int = 16, layers: int = 2) -> None:
        super().__init__()
        self.near, self.kinds = Near(8), nn.Embedding(KINDS, width)
        self.register_buffer("turns", _cross(), persistent=False)
        self.layers = nn.ModuleList(NequIPLayer(width) for _ in range(layers))
        self.out = _mlp(2 * width, width, 1, nn.SiLU())

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
        between, lengths = self.near(positions, strain, edges, shifts, cells, batch)
        radial, direction = self.near.bessel(lengths), between / lengths
        scalars = self.kinds(numbers)
        vectors = scalars.new_zeros(scalars.shape[0], scalars.shape[1], 3)
        for layer in self.layers:
            scalars, vectors = layer(scalars, vectors, radial, direction, edges, self.turns)
        invariants = torch.cat([scalars, vectors.pow(2).sum(-1)], 1)
        return _of_structures(self.out(invariants), cells, batch)


class NequIPLayer(nn.Module):
    """A tensor product of features of neighbours with their directions, a sum over them, a gate."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.radial = _mlp(8, 2 * width, 5 * width, nn.SiLU())
        self.scalars, self.gates = nn.Linear(3 * width, width), nn.Linear(3 * width, width)
        self.vectors = nn.Parameter(torch.randn(4 * width, width) / width)

    def forward(
        self, scalars: Tensor, vectors: Tensor, radial: Tensor, direction: Tensor, edges: Tensor, turns: Tensor
    ) -> tuple[Tensor, Tensor]:
        weights = self.radial(radial).unflatten(1, (5, -1))
        s, v, along = scalars[edges[0]], vectors[edges[0]], direction.unsqueeze(1)
        turned = torch.einsum("eci,ej,ijk->eck", v, direction, turns)
        to_scalars = torch.cat([s * weights[:, 0], (v * along).sum(-1) * weights[:, 1]], 1)
        parts = (s.unsqueeze(-1) * along, v, turned)
        to_vectors = torch.cat([part * weights[:, 2 + i].unsqueeze(-1) for i, part in enumerate(parts)], 1)
        place = edges[1].unsqueeze(1).expand_as(to_scalars)
        summed = to_scalars.new_zeros(scalars.shape[0], to_scalars.shape[1]).scatter_add(0, place, to_scalars)
        mixed = torch.cat([scalars, summed], 1)
        inner = to_vectors.new_zeros(scalars.shape[0], to_vectors.shape[1], 3).index_add(0, edges[1], to_vectors)
        inner = torch.einsum("nci,cd->ndi", torch.cat([vectors, inner], 1), self.vectors)
        return scalars + F.silu(self.scalars(mixed)), vectors + inner * self.gates(mixed).sigmoid().unsqueeze(-1)


class MACE(nn.Module):
    """Products of up to three sums over neighbours of spherical harmonics, contracted to scalars."""

    def __init__(self, width: int = 16, layers: int = 2) -> None:
        super().__init__()
        self.near, self.kinds = Near(8), nn.Embedding(KINDS, width)
        self.register_buffer("degrees", torch.tensor([0, 1, 1, 1, 2, 2, 2, 2, 2]), persistent=False)
        self.register_buffer("triples", _triples(), persistent=False)
        self.layers = nn.ModuleList(MACELayer(width) for _ in range(layers))
        self.linear = nn.Linear(width, 1)
        self.out = _mlp(width, width, 1, nn.SiLU())

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
        vectors, lengths = self.near(positions, strain, edges, shifts, cells, batch)
        radial, harmonics = self.near.bessel(lengths), _harmonics(vectors / lengths)
        x = self.kinds(numbers)
        energies = torch.zeros_like(x[:, :1])
        for number, layer in enumerate(self.layers):
            x = layer(x, numbers, radial, harmonics, edges, self.degrees, self.triples)
            energies = energies + (self.out if number + 1 == len(self.layers) else self.linear)(x)
        return _of_structures(energies, cells, batch)


class MACELayer(nn.Module):
    """One layer of messages of many bodies."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.radial = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.SiLU(), nn.Linear(32, 3 * width))
        self.before = nn.Linear(width, width, bias=False)
        self.weights = nn.Embedding(KINDS, 5 * width)  # of the products, by the kind of the atom
        self.after, self.skip = nn.Linear(width, width), nn.Linear(width, width, bias=False)

    def forward(
        self,
        x: Tensor,
        numbers: Tensor,
        radial: Tensor,
        harmonics: Tensor,
        edges: Tensor,
        degrees: Tensor,
        triples: Tensor,
    ) -> Tensor:
        weights = self.radial(radial).view(radial.shape[0], -1, 3)[:, :, degrees]
        messages = self.before(x)[edges[0]].unsqueeze(-1) * weights * harmonics.unsqueeze(1)
        a = messages.new_zeros(x.shape[0], messages.shape[1], messages.shape[2]).index_add(0, edges[1], messages) / 8
        pairs = torch.einsum("nci,ncj,ijk->nck", a, a, triples)
        squares = a * a
        products = (a[..., 0], squares[..., 1:4].sum(-1), squares[..., 4:].sum(-1), (pairs * a).sum(-1), pairs[..., 0])
        by_kind = self.weights(numbers).unflatten(1, (5, -1))
        return self.skip(x) + self.after(torch.einsum("pnc,npc->nc", torch.stack(products), by_kind))


def _mlp(first: int, inner: int, last: int, activation: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Linear(first, inner), activation, nn.Linear(inner, last))


def _of_structures(of_atoms: Tensor, cells: Tensor, batch: Tensor) -> Tensor:
    return of_atoms.new_zeros(cells.shape[0]).index_add(0, batch, of_atoms.squeeze(-1))


def _cross() -> Tensor:
    """The tensor of the cross product."""
    turns = torch.zeros(3, 3, 3)
    for i in range(3):
        turns[i, (i + 1) % 3, (i + 2) % 3] = 1
        turns[(i + 1) % 3, i, (i + 2) % 3] = -1
    return turns


def _harmonics(unit: Tensor) -> Tensor:
    """Real spherical harmonics up to degree two, of unit vectors."""
    x, y, z = unit.unbind(-1)
    second = (x * y, y * z, (3 * z * z - 1) / math.sqrt(12), x * z, (x * x - y * y) / 2)
    first = [math.sqrt(3) * each for each in (y, z, x)]
    return torch.stack([torch.ones_like(x), *first, *(math.sqrt(15) * each for each in second)], -1)


def _triples() -> Tensor:
    """The integrals of products of three harmonics over the sphere, which couple two of them to a third."""
    angles = torch.arange(12) * (math.pi / 6)
    off = torch.tensor([n / math.sqrt(4 * n * n - 1) for n in range(1, 8)])
    z, vectors = torch.linalg.eigh(torch.diag(off, -1))
    weights = vectors[0] ** 2  # of Gauss and Legendre
    ring = (1 - z * z).sqrt().unsqueeze(1)
    points = torch.stack([ring * angles.cos(), ring * angles.sin(), z.unsqueeze(1).expand(-1, 12)], -1)
    y = _harmonics(points.flatten(0, 1))
    return torch.einsum("p,pi,pj,pk->ijk", (weights / 12).repeat_interleave(12), y, y, y)


POTENTIALS: dict[str, Callable[[], nn.Module]] = {"SchNet-like": SchNet, "NequIP-like": NequIP, "MACE-like": MACE}


def made(name: str) -> nn.Module:
    """A potential, with the same weights each time."""
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    return POTENTIALS[name]()
