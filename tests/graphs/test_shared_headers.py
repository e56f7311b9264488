"""The header that all graphs share has the types of the release that it is for."""

from __future__ import annotations

import pytest

from pipeline.graphs.text.files import RUNTIME, support_text
from pipeline.releases import resolve


@pytest.mark.parametrize("version", ["2.10", "2.12"])
def test_before_2_13_a_node_is_held_by_a_shared_pointer(version: str) -> None:
    text = support_text(RUNTIME, resolve(version))
    assert "using NodePointer = std::shared_ptr<Of>;" in text
    assert "intrusive" not in text
    assert "shared_from_this()" in text


@pytest.mark.parametrize("version", ["2.13", "2.15"])
def test_since_2_13_a_node_is_held_by_an_intrusive_pointer(version: str) -> None:
    text = support_text(RUNTIME, resolve(version))
    assert "using NodePointer = c10::intrusive_ptr<Of>;" in text
    assert "shared_from_this" not in text
    assert "deleteNode" not in text


@pytest.mark.parametrize("version", ["2.12", "2.13"])
def test_the_header_has_no_marks_of_releases(version: str) -> None:
    text = support_text(RUNTIME, resolve(version))
    assert not any(line.startswith(("////", "//<", "//>")) for line in text.splitlines())
