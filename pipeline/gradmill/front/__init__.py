"""Command lines, doit, editors, other build systems: the only folder that writes outputs."""

PROJECT = "pyproject.toml"
SETTINGS_FILES = ("gradmill.toml", PROJECT)  # the names of settings files; in one folder the first wins
