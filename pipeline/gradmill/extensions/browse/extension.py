"""The door of the page and the language server."""

from gradmill.doors import Extension

_PAGE = "gradmill.extensions.browse.page"

EXTENSION = Extension(
    commands="gradmill.extensions.browse.commands.table",
    queries=tuple(
        f"{_PAGE}.{name}" for name in "relations callers subjects sources changes verdicts lists added pages".split()
    ),
)
