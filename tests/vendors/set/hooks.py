"""What the vendor's kernels have that PyTorch's lack."""

import re


def unit(family, piece, function, text, release):
    if family != "variable_type" or function.operator != "mm":
        return text
    if piece == "registration":
        return f"if (plain()) {{\n    {text}}}"
    return re.sub(r"unpack\((\w+), \"\w+\", \d+\)", r"\1", text)
