"""The names of pieces that only some registrations have."""

NATIVE = "at::native"  # the usual namespace of kernels
DEFINING = ("dispatch_anonymous_definitions", "dispatch_namespaced_definitions")


def ufunc_piece(key: str, name: str) -> str:
    """The name of a piece of a ufunc's kernel for a key."""
    return f"{name} for {key}"


def space_piece(piece: str, namespace: str) -> str:
    """The name of a piece with what is for kernels in a namespace. The usual one keeps the plain name."""
    return piece if namespace == NATIVE else f"{piece} in {namespace}"
