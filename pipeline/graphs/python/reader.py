"""The reader of a graph's expressions: names and operators, calls, subscripts."""

import ast

from pipeline.graphs.python import calls, subscripts
from pipeline.graphs.python.expressions import Expressions


class Reader(Expressions):
    """Reads every expression that a graph may have."""

    readers = {**Expressions.readers, ast.Subscript: subscripts.read, ast.Call: calls.read}
