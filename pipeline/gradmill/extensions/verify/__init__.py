"""Verifies derivative formulas numerically: `gradmill verify`.

A formula is compiled alone, as its Node and its kernel have it, into a small library (`library`), with only the headers
of the installed torch that it needs (`headers`). A separate process (`child/`) loads the library, calls the operator
and the formula on samples, and compares gradients and tangents with finite differences, with one another, and with
torch's.
"""
