"""What torch_npu's generator changes in the text of PyTorch's."""

import re

PLAIN = """\
if (std::getenv("TORCH_NPU_USE_COMPATIBLE_IMPL") == nullptr || \
std::string(std::getenv("TORCH_NPU_USE_COMPATIBLE_IMPL")) != "1") {
    %s}"""
WRAPPED = ("matmul", "matmul.out", "matmul_backward", "matmul_double_backward")


def unit(family, piece, function, text, release):
    if family == "nodes":
        return text.replace("_symint", "")
    if family == "inplace_or_view":
        return re.sub(r"at::_ops::(\w+)::redispatch", r"at_npu::redispatch::\1", text)
    if family != "variable_type":
        return text
    if piece == "registration":
        return PLAIN % text if release >= (2, 7) and function.operator in WRAPPED else text
    if release >= (2, 6) and function.base == "matmul_backward":
        text = re.sub(r'unpack\((\w+), "\w+", \d+\)', r"\1", text)
    if not (function.own and function.defined):
        return text
    if function.kind == "out":
        text = re.sub(r"at::redispatch::(\w+)_outf", r"at_npu::redispatch::\1_out", text)
    else:
        text = text.replace("at::redispatch", "at_npu::redispatch")
    return text.replace("_symint", "") if release >= (2, 5) else text
