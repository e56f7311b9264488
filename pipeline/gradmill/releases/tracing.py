"""Which functions the tracer records, by release."""

from __future__ import annotations

from gradmill.releases.model import Change

OLDEST: dict[str, object] = {
    # The tracer records the functions that these call.
    "unrecorded": tuple(
        """
        convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d lstm_cell gru_cell
        rnn_tanh_cell rnn_relu_cell _coalesced
        """.split()
    ),
    "unrecorded_types": ("Storage",),
    # A trace has no `fill` and no `zero`: the recorded ops create a tensor, and take more arguments.
    "recorded_as": {"zero": "zeros_like", "fill": "full_like"},
    "trace_shards": 5,
}

CHANGES: tuple[Change, ...] = (Change("2.13", "trace_shards", "twice as many files, half as large", set=10),)
