"""Nothing."""

X = 1
