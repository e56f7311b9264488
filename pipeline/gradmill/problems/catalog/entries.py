"""The rules of entries of the YAML files, of templates and of lists of operators."""

from __future__ import annotations

from gradmill.problems.catalog.rule import Rule

_NATIVE, _DEPRECATED, _BACKEND = "native_functions.yaml", "deprecated.yaml", "ts_native_functions.yaml"
_SORT = "- name: sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)\n"

DERIVATIVES = (
    Rule(
        "ignored-key",
        "torchgen ignores this key: one next to `dispatch` in derivatives.yaml, or an unknown one in deprecated.yaml.",
        "- name: noise(Tensor self, *, Generator? generator=None) -> Tensor\n"
        "  self: grad\n"
        "  dispatch:\n"
        "    Default:\n"
        "      self: grad * (result > 0)",
        "- name: noise(Tensor self, *, Generator? generator=None) -> Tensor\n"
        "  dispatch:\n"
        "    Default:\n"
        "      self: grad * (result > 0)",
    ),
    Rule(
        "output-differentiability",
        "`output_differentiability` has one True or False for each output. torchgen takes any value as a truth value,"
        " so that a string counts as True, and ignores `False` and an empty list.",
        f"{_SORT}  self: unsort(grad, indices, dim, self.sym_sizes())\n  output_differentiability: [1, 0]",
        f"{_SORT}  self: unsort(grad, indices, dim, self.sym_sizes())\n  output_differentiability: [True, False]",
    ),
    Rule(
        "second-definition",
        "Two entries are for one function. The later one wins, at the place of the first.",
        "- name: exp(Tensor self) -> Tensor\n"
        "  self: grad * result\n"
        "\n"
        "- name: exp(Tensor self) -> Tensor\n"
        "  self: grad",
        "- name: exp(Tensor self) -> Tensor\n"
        "  self: grad * result",
    ),
    Rule(
        "unused-anchor",
        "YAML reads `&name` at the start of a value as an anchor and drops it. No alias refers to this one, so it is"
        " probably the address operator of C++.",
        "- name: exp(Tensor self) -> Tensor\n  self: &grad result",
        '- name: exp(Tensor self) -> Tensor\n  self: "grad * result"',
    ),
    Rule(
        "renamed-argument",
        "derivatives.yaml and native_functions.yaml name an argument differently. This is an error.",
        "- name: mm(Tensor self, Tensor weight) -> Tensor\n  self: grad.mm(weight.t())",
        "- name: mm(Tensor self, Tensor mat2) -> Tensor\n  self: grad.mm(mat2.t())",
    ),
    Rule(
        "not-generated",
        "An error that torchgen finds only where it generates files with derivatives. This run generates none of them,"
        " so the error does not stop it.",
        "- name: exp(Tensor self) -> Tensor\n  dispatch:\n    AutogradNestedTensor:\n      self: grad * result",
        "- name: exp(Tensor self) -> Tensor\n  dispatch:\n    Default:\n      self: grad * result",
    ),
)  # fmt: skip

FUNCTIONS = (
    Rule(
        "lost-derivative",
        "An in-place or foreach function has no derivative: its name differs by a letter from that of the function that"
        " it would inherit one from.",
        "- func: _foreach_epx(Tensor[] self) -> Tensor[]",
        "- func: _foreach_exp(Tensor[] self) -> Tensor[]",
        _NATIVE,
    ),
    Rule(
        "split-group",
        "A function is named as the in-place, out or mutable variant of another one, but has other arguments. torchgen"
        " groups variants by all of their arguments: it is a separate operator, without the derivative.",
        "- func: scale(Tensor self, float factor) -> Tensor\n"
        "  dispatch:\n"
        "    CPU: scale\n"
        "- func: scale_(Tensor(a!) self, float by) -> Tensor(a!)\n"
        "  dispatch:\n"
        "    CPU: scale_",
        "- func: scale(Tensor self, float factor) -> Tensor\n"
        "  dispatch:\n"
        "    CPU: scale\n"
        "- func: scale_(Tensor(a!) self, float factor) -> Tensor(a!)\n"
        "  dispatch:\n"
        "    CPU: scale_",
        _NATIVE,
        "0.2.0",
    ),
    Rule(
        "unknown-variant",
        "`autogen` names a function that is not a variant of this one. torchgen looks only for the word `out` in it.",
        "- func: exp_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: exp_cpu_\n  autogen: epx.out",
        "- func: exp_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: exp_cpu_\n  autogen: exp.out",
        _NATIVE,
    ),
    Rule(
        "ignored-autogen",
        "`autogen` is in the entry of a variant that torchgen does not generate from, so it has no effect.",
        "- func: exp(Tensor self) -> Tensor\n"
        "  dispatch:\n"
        "    CPU: exp_cpu\n"
        "  autogen: exp.out\n"
        "- func: exp_(Tensor(a!) self) -> Tensor(a!)\n"
        "  dispatch:\n"
        "    CPU: exp_cpu_",
        "- func: exp(Tensor self) -> Tensor\n"
        "  dispatch:\n"
        "    CPU: exp_cpu\n"
        "- func: exp_(Tensor(a!) self) -> Tensor(a!)\n"
        "  dispatch:\n"
        "    CPU: exp_cpu_\n"
        "  autogen: exp.out",
        _NATIVE,
    ),
    Rule(
        "untagged-view",
        "The in-place variant of a view has no tag inplace_view, so autograd treats it as one that changes values.",
        "- func: transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)\n"
        "  variants: method\n"
        "  dispatch:\n"
        "    CompositeExplicitAutograd: transpose_",
        "- func: transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)\n"
        "  variants: method\n"
        "  dispatch:\n"
        "    CompositeExplicitAutograd: transpose_\n"
        "  tags: inplace_view",
        _NATIVE,
    ),
    Rule(
        "cpp-name",
        "A function, an argument, a kernel or the class of a structured one has a name that C++ cannot have.",
        "- func: square(Tensor self,) -> Tensor",
        "- func: square(Tensor self) -> Tensor",
        _NATIVE,
    ),
    Rule(
        "no-kernel",
        "A structured function has no `dispatch`: neither it nor the functions that are delegated to it have a kernel.",
        "- func: halve.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n"
        "- func: halve(Tensor self) -> Tensor\n"
        "  structured_delegate: halve.out",
        "- func: halve.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n"
        "  dispatch:\n"
        "    CPU: halve_out\n"
        "- func: halve(Tensor self) -> Tensor\n"
        "  structured_delegate: halve.out",
        _NATIVE,
        "0.2.0",
    ),
    Rule(
        "argument-twice",
        "Two arguments have the same name.",
        "- func: square(Tensor self, Tensor self) -> Tensor",
        "- func: square(Tensor self) -> Tensor",
        _NATIVE,
    ),
    Rule(
        "name-case",
        "The names of two operators differ in case alone. Files that are named after them are one file where case does"
        " not count, as on macOS.",
        "- func: EXP(Tensor self) -> Tensor\n  dispatch:\n    CPU: EXP",
        "- func: special_exp(Tensor self) -> Tensor\n  dispatch:\n    CPU: special_exp",
        _NATIVE,
        "0.2.0",
    ),
    Rule(
        "lost-alias",
        "An argument has the annotation of a view, and no return has it, or the reverse. torchgen takes an operator for"
        " a view only by its returns.",
        "- func: row(Tensor(a) self, int at) -> Tensor\n  dispatch:\n    CPU: row",
        "- func: row(Tensor self, int at) -> Tensor\n  dispatch:\n    CPU: row",
        _NATIVE,
        "0.2.0",
    ),
    Rule(
        "unwritten-out",
        "An overload called `out` takes a tensor `out` and does not write to it, so it is a functional operator of its"
        " own.",
        "- func: mm.out(Tensor self, Tensor mat2, *, Tensor out) -> Tensor\n  dispatch:\n    CPU: mm_out_cpu",
        "- func: mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: mm_out_cpu",
        _NATIVE,
        "0.2.0",
    ),
    Rule(
        "odd-default",
        "The default of an argument has several words: a comma is missing, and torchgen takes the next argument for a"
        " part of the default.",
        "- func: scale(Tensor self, int dim=0 bool keepdim) -> Tensor",
        "- func: scale(Tensor self, int dim=0, bool keepdim=False) -> Tensor",
        _NATIVE,
        "0.2.0",
    ),
    Rule(
        "foreach-returns",
        "A foreach function takes lists of tensors, but returns a single tensor.",
        "- func: _foreach_exp(Tensor[] self) -> Tensor\n"
        "  device_check: NoCheck\n"
        "  dispatch:\n"
        "    CompositeExplicitAutograd: foreach_exp",
        "- func: _foreach_exp(Tensor[] self) -> Tensor[]\n"
        "  device_check: NoCheck\n"
        "  dispatch:\n"
        "    CompositeExplicitAutograd: foreach_exp",
        _NATIVE,
    ),
    Rule(
        "tag-name",
        "A tag becomes a name in C++ and in Python, and this one cannot.",
        "- tag: core ops\n  desc: What every compiler can be expected to know.",
        "- tag: core_ops\n  desc: What every compiler can be expected to know.",
        "tags.yaml",
    ),
)

FILES = (
    Rule(
        "no-hole",
        "No template has this hole, so its text is printed nowhere.",
        "{autograd_function_declarations}",
        "${autograd_function_declarations}",
        "templates/Functions.h",
    ),
    Rule(
        "conflict-marker",
        "A merge left its markers. In a YAML file this is an error.",
        "<<<<<<< HEAD\n#include \"one.h\"\n=======\n#include \"two.h\"\n>>>>>>> topic",
        "#include \"Functions.h\"",
        "templates/Functions.cpp",
    ),
    Rule(
        "unknown-operator",
        "A list of selected operators names an operator that does not exist. torchgen ignores it.",
        "operators:\n  aten::epx: {}",
        "operators:\n  aten::exp: {}",
        "operators.yaml",
    ),
    Rule(
        "ignored-operator",
        "torchgen ignores this operator of a backend's list: no function has this name, or it has no kernel that the"
        " list could change; or the whole file, without supported operators.",
        "symint:\n  - mv",
        "symint:",
        _BACKEND,
    ),
    Rule(
        "listed-twice",
        "A list of a backend's operators has one of them twice.",
        "  - topk\n  - topk",
        "  - topk",
        _BACKEND,
    ),
    Rule(
        "lost-gradient",
        "A backend lists a CompositeImplicit operator in supported. PyTorch differentiates such an operator by"
        " those that it calls, and a kernel for the backend's key replaces these calls: the gradient is None there.",
        "supported:\n  - layer_norm",
        "autograd:\n  - layer_norm",
        _BACKEND,
    ),
)  # fmt: skip
ENTRIES = (*DERIVATIVES, *FUNCTIONS, *FILES)
