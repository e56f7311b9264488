"""Kernels that are compiled ahead of time from DSLs, as modules of operators declare them."""

from msgspec import Struct


class AotDeclaration(Struct, frozen=True, gc=False, array_like=True):
    """What a module declares."""

    op: str  # `topk`, or with its overload `gt.Tensor`
    key: str  # the dispatch key
    unconditional: bool  # whether the kernels are the implementation, which nothing switches off
    line: int  # of `op`

    @property
    def name(self) -> str:
        """The operator's name in C++."""
        return self.op.replace(".", "_")
