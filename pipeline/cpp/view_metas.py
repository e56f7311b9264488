"""The class that replays a view in functionalization: its name, and which releases have it.

torchgen: `functionalization.classname`, `functionalization.base_ctor_arguments`,
`functionalization.extra_ctor_arguments`.
"""

from __future__ import annotations

from pipeline.problems.problem import SpecError
from pipeline.releases.model import Release


def view_meta(name: str) -> str:
    """The name of the class: `select_int_ViewMeta` for `select.int`."""
    return f"{name.replace('.', '_')}_ViewMeta"


def check_release(release: Release, template: str) -> None:
    """SpecError, about a template of theirs, if the release has no ViewMetas."""
    if not release.has_view_metas:
        problem = f"PyTorch {release.version} has no ViewMetas"
        error = SpecError(problem, "leave out the families view_metas and view_meta_bindings")
        error.role, error.entry = "template", template
        raise error
