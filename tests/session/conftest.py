"""Projects of a few operators, as commands have."""

from cli.conftest import built, project

__all__ = ["built", "project"]
