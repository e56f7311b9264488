"""The memory of a training step, as torch's profiler sees it."""

from __future__ import annotations

import time
from collections.abc import Callable

from torch import Tensor
from torch.profiler import ProfilerActivity, profile


def held_and_peak(forward: Callable[[], Tensor], backward: Callable[[Tensor], object]) -> tuple[int, int]:
    """Bytes that live after the forward, and the most that live at once in the step, without what lived before it."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        result = forward()
        mark = time.time_ns()
        backward(result)
    events = [each for each in seen.profiler.kineto_results.events() if each.name() == "[memory]"]  # type: ignore[union-attr]
    held = peak = now = 0
    for each in sorted(events, key=lambda event: event.start_ns()):
        now += each.nbytes()
        peak = max(peak, now)
        held = now if each.start_ns() <= mark else held
    return held, peak
