"""CopyBackwards: the Node of `copy_`."""

from __future__ import annotations

import warnings

import torch
from torch.autograd import grad

from views.graphs import Calls, leaf, same
from views.operators import Ops


def test_a_real_source_of_complex_values_gets_the_real_part(ops: Ops) -> None:
    src = leaf(3)
    b = torch.zeros(3, dtype=torch.complex128)
    ops.copy_(b, src)
    g = torch.randn(3, dtype=torch.complex128)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no warning that an imaginary part is dropped: that is intended
        assert same(grad(b, [src], g), [g.real])


def test_only_what_is_asked_for_is_computed(ops: Ops) -> None:
    t, src = leaf(3), leaf(3, dtype=torch.float32, seed=2)
    b = t.clone()
    ops.copy_(b, src)
    g = torch.randn(3, dtype=torch.float64)
    with Calls() as of_source:
        grad(b, [src], g, retain_graph=True)
    with Calls() as of_target:
        grad(b, [t], g, retain_graph=True)
    assert "zeros_like" not in of_source.names and "_to_copy" in of_source.names
    assert "zeros_like" in of_target.names and "_to_copy" not in of_target.names


def test_the_options_of_the_source_are_kept_and_no_tensor(ops: Ops) -> None:
    src = leaf(4, dtype=torch.float32)
    b = torch.zeros(4, dtype=torch.float64)
    ops.copy_(b, src * 1)
    src_storage = src.untyped_storage()._weak_ref()  # of the leaf, which stays
    temporary = src * 2
    gone = temporary.untyped_storage()._weak_ref()
    ops.copy_(b, temporary)
    del temporary
    assert torch.UntypedStorage._expired(gone) and not torch.UntypedStorage._expired(src_storage)
    assert same(grad(b.sum(), [src]), [torch.full((4,), 2.0)])
    torch.UntypedStorage._free_weak_ref(gone)
    torch.UntypedStorage._free_weak_ref(src_storage)
