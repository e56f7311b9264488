"""The names of pieces that only some registrations have."""


def ufunc_piece(key: str, name: str) -> str:
    """The name of a piece of a ufunc's kernel for a key."""
    return f"{name} for {key}"
