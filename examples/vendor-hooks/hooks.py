"""The files of the backend: what gradmill asks for their texts. The modules next to this one have these."""

import functors
import structured
import wrappers


def files(functions, release):
    """All files, by name. `functions`: those of the set, in its order."""
    listed = grouped([function for function in functions if "supported" in function.lists])
    named = {(function.namespace, function.operator): function for function in functions}
    classes = [function for function in listed if "structured" in function.keys]
    plain = [function for function in listed if function not in classes]
    implemented = [each for out in classes for each in grouped(functions) if each.group == out.group]
    return {
        "kernels.h": wrappers.header(plain),
        "wrappers.cpp": wrappers.source(plain),
        "structured.h": structured.header(classes, named),
        "structured.cpp": structured.source(implemented, named),
        "functors.h": functors.header(plain),
    }


def grouped(functions):
    """Functions with all variants of an operator together, at the place of the first."""
    first = {}
    for place, function in enumerate(functions):
        first.setdefault((function.namespace, *(function.group or (function.operator,))), place)
    return sorted(functions, key=lambda each: first[(each.namespace, *(each.group or (each.operator,)))])
