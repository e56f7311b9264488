"""What the tracer records, by release."""

from __future__ import annotations

from pipeline.releases.model import Change

OLDEST: dict[str, object] = {
    # The functions that they are made of are recorded in their place.
    "unrecorded": tuple(
        """
        convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d lstm_cell gru_cell
        rnn_tanh_cell rnn_relu_cell _coalesced
        """.split()
    ),
    "unrecorded_types": ("Storage",),
    # A trace has no `fill` and no `zero`: these make a new tensor, and take more arguments.
    "recorded_as": {"zero": "zeros_like", "fill": "full_like"},
    "trace_shards": 5,
}

CHANGES: tuple[Change, ...] = (Change("2.13", "trace_shards", "twice as many files, half as large", set=10),)
