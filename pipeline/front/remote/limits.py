"""How long a run waits for a shared cache, and how much it takes from one."""

from __future__ import annotations

# Seconds.
CONNECT = 3.0
IDLE = 5.0  # between two packets
FIND = 6.0  # a whole lookup; connecting included, as in the next two
FETCH = 15.0
PUT = 30.0

LARGEST = 1 << 28  # bytes of a blob: 20 times what all families take
