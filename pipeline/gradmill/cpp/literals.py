"""Text as C++ string literals.

torchgen: `gen.cpp_string`.
"""

_ESCAPES = {ord(raw): f"\\{name}" for raw, name in zip('\\"\a\b\f\n\v\t', '\\"abfnvt')}


def string_literal(text: str) -> str:
    """A C++ string literal with the characters of `text`."""
    return f'"{text.translate(_ESCAPES)}"'
