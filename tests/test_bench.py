"""When the benchmark of models calls a step another one than eager's."""

from __future__ import annotations

import pytest


@pytest.mark.extension("graphs")
@pytest.mark.parametrize(
    ("steps", "drift", "wrong"), [(1e-6, None, False), (1e-3, None, True), (1e-3, 1e-4, True), (1e-3, 1e-2, False)]
)
def test_steps_of_a_model_may_go_apart_only_as_far_as_those_of_eager(
    steps: float, drift: float | None, wrong: bool
) -> None:
    pytest.importorskip("torch")
    from bench.models.rows import too_far

    found = {"forward": 0.0, "gradients": 1e-7, "buffers": 0.0, "steps": steps, "drift": drift}
    assert too_far(found) == ({"steps": steps} if wrong else {})


@pytest.mark.extension("graphs")
def test_a_gradient_that_is_not_a_number_is_too_far() -> None:
    pytest.importorskip("torch")
    from bench.models.rows import too_far

    found = {"forward": 0.0, "gradients": float("nan"), "buffers": 0.0, "steps": 0.0, "drift": 1.0}
    assert [*too_far(found)] == ["gradients"]
