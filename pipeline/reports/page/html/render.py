"""Pages from their templates. Jinja is imported with this module, by those who make pages."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pipeline.reports.page.html import graph, highlight
from pipeline.reports.page.names import safe

_BREAK = re.compile(r"(?<=\w)_(?=[a-z])|(?<=\w)(?=Backward)")  # where a long name may go on in the next line
_HERE = os.path.dirname(__file__)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    made.filters["formula"] = lambda text, inputs: Markup(highlight.formula(text, inputs))  # noqa: S704
    made.filters["schema"] = lambda text: Markup(highlight.schema(text))  # noqa: S704
    made.filters["yaml"] = lambda text: Markup(highlight.yaml(text))  # noqa: S704
    made.filters["picture"] = lambda steps, root: Markup(graph.picture(steps, root))  # noqa: S704
    made.filters["breakable"] = lambda name: Markup(_BREAK.sub(r"\g<0><wbr>", str(escape(name))))  # noqa: S704
    made.filters["safe_name"] = safe
    return made


def render(template: str, values: Mapping[str, Any]) -> bytes:
    """A template filled with values, all of which are escaped."""
    return _environment().get_template(template).render(values).encode()


def plain(name: str) -> bytes:
    """A file that goes into the folder as it is."""
    with open(os.path.join(_HERE, name), "rb") as file:
        return file.read()


def marked(html: str) -> Markup:
    """HTML that was made here, and is not to be escaped again."""
    return Markup(html)  # noqa: S704
