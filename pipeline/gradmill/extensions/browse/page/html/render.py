"""Renders pages from their templates. This module imports Jinja, so only code that renders pages imports it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gradmill.extensions.browse.page.html import graph, highlight, lineage
from gradmill.extensions.browse.page.names import safe
from gradmill.reports.coverage import is_tensor

_BREAK = re.compile(r"(?<=\w)_(?=[a-zA-Z0-9])|(?<=\w)(?=Backward)")  # where a long name may wrap
_HERE = os.path.dirname(__file__)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    environment.filters["formula"] = lambda text, inputs, link: Markup(highlight.formula(text, inputs, link))  # noqa: S704
    environment.filters["plain"] = lambda text: Markup(highlight.plain(text))  # noqa: S704
    environment.filters["schema"] = lambda text: Markup(highlight.schema(text))  # noqa: S704
    environment.filters["yaml"] = lambda text: Markup(highlight.yaml(text))  # noqa: S704
    environment.filters["picture"] = lambda steps, root: Markup(graph.picture(steps, root))  # noqa: S704
    environment.filters["neighbourhood"] = lambda shown, root: Markup(lineage.neighbourhood(shown, root))  # noqa: S704
    environment.filters["lineage"] = lambda of: Markup(lineage.of_set(of))  # noqa: S704
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["breakable"] = lambda name: Markup(_BREAK.sub(r"\g<0><wbr>", str(escape(name))))  # noqa: S704
    environment.filters["safe_name"] = safe
    environment.tests["tensor"] = is_tensor
    return environment


def render(template: str, values: Mapping[str, Any]) -> bytes:
    """The template, filled with the values, which are escaped."""
    return _environment().get_template(template).render(values).encode()


def plain(name: str) -> bytes:
    """The bytes of a file that is copied unchanged."""
    with open(os.path.join(_HERE, name), "rb") as file:
        return file.read()
