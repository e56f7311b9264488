"""The memory of a training step, as torch's profiler sees it."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.profiler import ProfilerActivity, profile, record_function

MARK = "between forward and backward"  # an event, since other clocks differ from the profiler's


def held_and_peak(forward: Callable[[], Tensor], backward: Callable[[Tensor], object]) -> tuple[int, int]:
    """Bytes that live after the forward, and the most that live at once in the step, without what lived before it."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        result = forward()
        with record_function(MARK):
            pass
        backward(result)
    all_events = seen.profiler.kineto_results.events()  # type: ignore[union-attr]
    mark = next(each.start_ns() for each in all_events if each.name() == MARK)
    events = [each for each in all_events if each.name() == "[memory]"]
    held = peak = now = 0
    for each in sorted(events, key=lambda event: event.start_ns()):
        now += each.nbytes()
        peak = max(peak, now)
        held = now if each.start_ns() <= mark else held
    return held, peak
