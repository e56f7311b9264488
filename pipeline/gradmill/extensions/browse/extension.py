"""The door of the page and the language server."""

from gradmill.doors import Extension

_QUERIES = """
    editor.rebuilt page.relations page.callers page.subjects page.sources page.changes page.verdicts page.lists
    page.added page.pages
""".split()

EXTENSION = Extension(
    commands="gradmill.extensions.browse.commands.table",
    queries=tuple(f"gradmill.extensions.browse.{name}" for name in _QUERIES),
)
