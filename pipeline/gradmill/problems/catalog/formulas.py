"""The rules of formulas: C++ that torchgen copies without a look at it, and that no compiler accepts."""

from __future__ import annotations

from msgspec.structs import replace

from gradmill.problems.catalog.rule import Rule


def _of_exp(name: str, meaning: str, bad: str, good: str) -> Rule:
    head = "- name: exp(Tensor self) -> Tensor\n  self: "
    return Rule(name, meaning, head + bad, head + good)


def _of_mm(name: str, meaning: str, bad: str, good: str) -> Rule:
    head = "- name: mm(Tensor self, Tensor mat2) -> Tensor\n  mat2: self.t().mm(grad)\n"
    return Rule(name, meaning, head + bad, head + good)


_SORT = "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"


def _of_sort(name: str, meaning: str, bad: str, good: str) -> Rule:
    head, end = f"- name: {_SORT}\n  self: ", "\n  output_differentiability: [True, False]"
    return Rule(name, meaning, head + bad + end, head + good + end)


NAMES = (
    _of_exp(
        "unknown-name",
        "A formula uses a name that is not an argument, output or gradient of its operator, and does not declare it.",
        "grad * reslt",
        "grad * result",
    ),
    _of_sort(
        "unknown-function",
        "A formula calls a function that no header of the set declares and that native_functions.yaml does not have."
        " Without a near name it is reported only if the set has all functions of its release.",
        "unsrot(grad, indices, dim, self.sym_sizes())",
        "unsort(grad, indices, dim, self.sym_sizes())",
    ),
    _of_exp("unknown-method", "A tensor has no method of this name.", "grad * result.cnoj()", "grad * result.conj()"),
    _of_exp(
        "unknown-constant",
        "A constant of math.h or of a dtype has another name.",
        "grad * result * M_LN22",
        "grad * result * M_LN2",
    ),
    _of_exp(
        "unknown-type",
        "A type has a name that is nearly, but not quite, that of one of PyTorch's types.",
        '"grad.defined() ? grad * result : Tensro()"',
        '"grad.defined() ? grad * result : Tensor()"',
    ),
    _of_mm(
        "gradient-in-forward",
        "A forward formula uses `grad`, which only backward formulas have. It computes a tangent from the tangents of"
        " its inputs: their names with _t.",
        "  self: grad.mm(mat2.t())\n  result: at::mm(self_t, mat2_p) + grad.mm(mat2_t)",
        "  self: grad.mm(mat2.t())\n  result: at::mm(self_t, mat2_p) + at::mm(self_p, mat2_t)",
    ),
    Rule(
        "no-output",
        "A key names several outputs, and the operator does not have one of them: no tangent is computed for it.",
        "- name: sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)\n"
        "  output_differentiability: [True, False]\n"
        "  self: unsort(grad, indices, dim, self.sym_sizes())\n"
        "  values, indixes: self_t",
        "- name: sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)\n"
        "  output_differentiability: [True, False]\n"
        "  self: unsort(grad, indices, dim, self.sym_sizes())\n"
        "  values: self_t",
    ),
    _of_mm(
        "namespace-member",
        "A dot follows a namespace. C++ qualifies names by two colons.",
        "  self: at.mm(grad, mat2.t())",
        "  self: at::mm(grad, mat2.t())",
    ),
    Rule(
        "formula-twice",
        "Two keys have a formula for one input. torchgen computes both, and keeps the last.",
        "- name: mm(Tensor self, Tensor mat2) -> Tensor\n"
        "  self: grad.mm(mat2.t())\n"
        "  mat2, self: self.t().mm(grad)",
        "- name: mm(Tensor self, Tensor mat2) -> Tensor\n"
        "  self: grad.mm(mat2.t())\n"
        "  mat2: self.t().mm(grad)",
    ),
)  # fmt: skip

CALLS = (
    _of_sort(
        "argument-count",
        "A call has more or fewer arguments than any overload of the function.",
        "unsort(grad, indices, self.sym_sizes())",
        "unsort(grad, indices, dim, self.sym_sizes())",
    ),
    _of_sort(
        "argument-type",
        "No overload of the function accepts arguments of these types, in this order. Functions that take symbolic"
        " sizes end with _symint.",
        "unsort(grad, dim, indices, self.sym_sizes())",
        "unsort(grad, indices, dim, self.sym_sizes())",
    ),
    _of_exp(
        "no-method",
        "A function is called as a method, or a method of another type is called: one of tensors on a number, a list or"
        " an optional value, or the reverse.",
        "grad.chunks(2)[0]",
        "at::chunks(grad, 2)[0]",
    ),
    _of_exp(
        "no-function",
        "An operator with `variants: method`, here `halve`, is called as a function.",
        "at::halve(grad)",
        "grad.halve()",
    ),
    _of_exp("uncalled-method", "A method is named, but not called.", "grad * result.mH", "grad * result.mH()"),
    _of_mm(
        "no-pointer",
        "An arrow follows a value that is not a pointer, such as a tensor.",
        "  self: grad->mm(mat2.t())",
        "  self: grad.mm(mat2.t())",
    ),
)

TYPES = (
    Rule(
        "gradient-in-place",
        "A formula changes an incoming gradient in place. Other formulas and the engine read the same tensor, so their"
        " results become wrong.",
        "- name: exp(Tensor self) -> Tensor\n  self: grad.mul_(result)",
        "- name: exp(Tensor self) -> Tensor\n  self: grad.mul(result)",
    ),
    Rule(
        "grad-index",
        "`grad[0]` is the first row of the only gradient. The gradient of an output is `grads[0]`.",
        f"- name: {_SORT}\n  self: unsort(grad[0], indices, dim, self.sym_sizes())",
        f"- name: {_SORT}\n  self: unsort(grads[0], indices, dim, self.sym_sizes()) + grads[1]",
    ),
    _of_exp(
        "no-condition",
        "A tensor or a list is used where C++ needs true or false.",
        '"result > 0 ? grad : grad * result"',
        "at::where(result > 0, grad, grad * result)",
    ),
    Rule(
        "operand-type",
        "An operator has no overload for operands of these types. An optional value cannot be an operand: it may be"
        " missing.",
        "- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n  other: grad * (alpha * alpha)",
        "- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n  other: grad * alpha * alpha",
    ),
    _of_exp(
        "character",
        "Single quotes enclose one character in C++. A string needs double quotes.",
        "grad.div(result, 'trunc')",
        'grad.div(result, "trunc")',
    ),
)

_OF_GRADIENTS = (
    _of_sort(
        "gradient-type",
        "A formula's value is not what its key requires: a tensor for one input, a list for a list of tensors, a"
        " tuple with a value for each of several inputs.",
        "at::sort(grad, dim)",
        "std::get<0>(at::sort(grad, dim))",
    ),
    _of_sort(
        "tuple-index",
        "`std::get` takes a tuple, and an index below its number of values.",
        "std::get<2>(at::sort(grad, dim))",
        "std::get<0>(at::sort(grad, dim))",
    ),
    _of_sort(
        "gradient-bounds",
        "`grads` has an element for each differentiable output, and none for the others: reading past its end is"
        " undefined behavior.",
        "unsort(grads[0], indices, dim, self.sym_sizes()) + grads[1]",
        "unsort(grad, indices, dim, self.sym_sizes())",
    ),
    _of_mm(
        "gradient-mask",
        "`grad_input_mask` tells which of several inputs need a gradient. It is declared for keys of several inputs.",
        '  self: "grad_input_mask[0] ? grad.mm(mat2.t()) : Tensor()"',
        "  self: grad.mm(mat2.t())",
    ),
    _of_mm(
        "dropped-tangent",
        "An input has a gradient, but no forward formula uses its tangent; or it has neither a formula nor the word"
        " non_differentiable, and is a factor in one. Forward mode silently takes its tangent as zero.",
        "  self: grad.mm(mat2.t())\n  result: at::mm(self_t, mat2_p)",
        "  self: grad.mm(mat2.t())\n  result: at::mm(self_t, mat2_p) + at::mm(self_p, mat2_t)",
    ),
    _of_exp(
        "not-linear",
        "`auto_linear` calls the operator on the tangent, which is right for a linear one. The gradient of a linear"
        " operator does not depend on its input, and this one is a product with it.",
        "grad * result\n  result: auto_linear",
        "grad * result\n  result: auto_element_wise",
    ),
    _of_exp(
        "other-operator",
        "The error of `not_implemented` names an operator other than the one that is differentiated.",
        'not_implemented("sort")',
        'not_implemented("exp")',
    ),
)
GRADIENTS = tuple(replace(rule, since="0.2.0") for rule in _OF_GRADIENTS)

_OF_VALUES = (
    _of_exp(
        "integer-division",
        "C++ drops the remainder of a division of integers: `1 / 2` is 0.",
        "1 / 2 * grad",
        "1. / 2 * grad",
    ),
    _of_exp(
        "bitwise-operator",
        "`^` is the exclusive or of bits in C++, and no power. It, `&` and `|` are for integers and booleans, which"
        " have no gradient.",
        "grad * result ^ 2",
        "grad * result.pow(2)",
    ),
    _of_exp(
        "chained-comparison",
        "C++ compares the result of the first comparison, true or false, with the last operand.",
        "at::where(0 <= self <= 1, grad, 0)",
        "at::where(at::logical_and(0 <= self, self <= 1), grad, 0)",
    ),
    _of_exp(
        "uninitialized",
        "`empty_like` and the like allocate memory, and write nothing to it: a gradient of it is random.",
        "at::empty_like(grad)",
        "at::zeros_like(grad)",
    ),
    _of_exp(
        "value-in-place",
        "A formula changes an input or an output of the operator in place. It is no copy: the caller and other formulas"
        " read the same tensor.",
        "result.mul_(grad)",
        "result.mul(grad)",
    ),
    _of_exp(
        "replaced-call",
        "torchgen replaces `zeros_like(self)`, `self.dim()` and other calls by what it saves of `self`, also behind"
        " `at::` and at the end of a longer name, and keeps what is in front: `at::self_info.zeros()`.",
        "at::zeros_like(self)",
        "zeros_like(self)",
    ),
    Rule(
        "array-size",
        "An array such as `bool[3]`, or `grad_input_mask`, which has an element for each input of its key, gets or is"
        " read with another number of elements. C++ makes missing ones false.",
        "- name: mm(Tensor self, Tensor mat2) -> Tensor\n"
        '  self, mat2: "grad_input_mask[2] ? std::make_tuple(grad, grad) : std::make_tuple(mat2, self)"',
        "- name: mm(Tensor self, Tensor mat2) -> Tensor\n"
        '  self, mat2: "grad_input_mask[1] ? std::make_tuple(grad, grad) : std::make_tuple(mat2, self)"',
    ),
)
VALUES = tuple(replace(rule, since="0.2.0") for rule in _OF_VALUES)

PYTHON = (
    _of_exp("python-word", "True, False and None are Python's.", "grad.clamp(None, 1)", "grad.clamp(0, 1)"),
    _of_exp(
        "python-module", "`torch.mul` is Python's.", "torch.mul(grad, result)", "at::mul(grad, result)"
    ),
    _of_exp(
        "python-operator",
        "`**`, `@`, and `if` with `else` within an expression are Python's.",
        "grad * result ** 2",
        "grad * result.pow(2)",
    ),
    _of_sort(
        "python-keyword",
        "`name=value` passes an argument by name in Python. In C++ it assigns to a variable.",
        "unsort(grad, indices, dim=-1, self.sym_sizes())",
        "unsort(grad, indices, /*dim=*/-1, self.sym_sizes())",
    ),
)  # fmt: skip

SYNTAX = (
    _of_exp(
        "cut-off",
        "A formula ends too early: with an operator, or because YAML reads ` #` as the start of a comment, or because"
        " `//` also comments out the code that is generated after it.",
        "grad * # the output",
        "grad * result  # the output",
    ),
    _of_exp(
        "comment", "`#` does not begin a comment within a C++ formula.", '"grad * result # all"', "grad * result # all"
    ),
    _of_exp(
        "unclosed-bracket",
        "A bracket is not closed, or closes nothing.",
        "grad * (result + 1",
        "grad * (result + 1)",
    ),
    _of_exp("doubled-operator", "Something is missing between two marks.", "grad * * result", "grad * result"),
    _of_exp("stray-token", "A word or mark cannot follow the one before it.", "grad result", "grad * result"),
    _of_exp(
        "conditional",
        "`?` and `:` belong together.",
        "grad.defined() ? grad * result",
        '"grad.defined() ? grad * result : grad"',
    ),
    _of_exp("semicolon", "A formula is an expression, and no statement.", "grad * result;", "grad * result"),
    _of_exp("return", "A formula is an expression, and no statement.", "return grad * result", "grad * result"),
    _of_exp(
        "odd-character",
        "A character outside of ASCII looks like one of C++, for example a typographic minus sign or a no-break space.",
        "grad \u2212 result",
        "grad - result",
    ),
)
FORMULAS = (*NAMES, *CALLS, *TYPES, *GRADIENTS, *VALUES, *PYTHON, *SYNTAX)
