"""One build: its settings, inputs, update, outputs and record: the only folder that writes generated files."""

PROJECT = "pyproject.toml"
SETTINGS_FILES = ("gradmill.toml", PROJECT)  # the names of settings files; in one folder the first wins
