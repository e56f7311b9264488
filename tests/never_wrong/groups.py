"""New operators whose functions upstream groups: a view with its in-place variant and its copies, or the variants of
one functional operator. Most groups are right but for one thing: a name, an annotation, a tag, a kernel.
"""

from __future__ import annotations

from random import Random

from .specset import Specs

_BASES = ("gm", "gm", "gm", "gm_copy", "gm_scatter", "gm_inverse", "gm_copy_gm", "gm_copy_copy", "gm_scatter_scatter")
_KNOWN = ("set", "resize", "resize_as", "narrow", "_foreach_gm", "bernoulli", "_add")  # upstream has rules for these
_ENDS = ("", "_copy", "_scatter", "_inverse", "_copy_", "2")
_SELF = tuple(f"Tensor{annotation} self" for annotation in ("", "(a)", "(a!)", "(a -> *)", "(a|b)", "(b)"))
_ARGUMENTS = ("", "", "", ", int n", ", int n=1", ", Tensor(b!) other", ", str name")
_RETURNS = ("Tensor", "Tensor", "Tensor", "Tensor[]", "(Tensor, Tensor)", "(Tensor, int)", "bool", "()")
_ANNOTATED = (
    *(f"Tensor({annotation})" for annotation in ("a", "a!", "b!", "c!")),
    "Tensor(a)[]", "(Tensor(a), Tensor)", "(Tensor, Tensor(a))",
)  # fmt: skip
_OVERLOADS = (".x", ".x", ".out", ".x_out", ".functional")
_KEYS = (
    "tags: inplace_view", "tags: view_copy", "tags: [inplace_view, view_copy]", "tags: core", "tags: generated",
    "tags: [core, inplace_view]", "manual_cpp_binding: True", "structured: True", "structured_delegate: gm.out",
    "variants: method", "autogen: gm.out", "autogen: gm.x_out, gm.functional", "autogen: gm_copy.out",
)  # fmt: skip
_KERNELS = (
    "CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd",
    "CompositeImplicitAutogradNestedTensor", "CPU, CUDA", "Meta",
)  # fmt: skip

# kind -> the end of the name, self, further arguments, the annotation of a returned tensor, the key
_KINDS = {
    "view": ("", "Tensor(a) self", "", "(a)", ""),
    "view in place": ("_", "Tensor(a!) self", "", "(a!)", "tags: inplace_view"),
    "copy": ("_copy", "Tensor self", "", "", "tags: view_copy"),
    "scatter": ("_scatter", "Tensor self", "", "", "tags: view_copy"),
    "functional": ("", "Tensor self", "", "", ""),
    "in place": ("_", "Tensor(a!) self", "", "(a!)", ""),
    "out": (".out", "Tensor self", ", *, Tensor(c!) out", "(c!)", ""),
}
_TOGETHER = (
    ("view",), ("view", "copy"), ("view", "copy", "view in place"), ("view", "view in place"), ("view", "scatter"),
    ("copy",), ("view", "functional", "copy"), ("view", "in place"), ("view", "out"), ("view", "copy", "scatter"),
    ("functional",), ("functional", "in place"), ("functional", "out"), ("functional", "in place", "out"), ("out",),
    ("in place",), ("in place", "out"), ("view in place",), ("copy", "in place"), ("view", "view"),
)  # fmt: skip


def group_added(specs: Specs, random: Random) -> None:
    """The functions of one operator at the end of the file, some with a derivative."""
    base = random.choice(_BASES if random.random() < 0.9 else _KNOWN)
    arguments = random.choice(_ARGUMENTS)
    kernel = random.choice(_KERNELS) if random.random() < 0.6 else ""
    kinds = list(random.choice(_TOGETHER))
    random.shuffle(kinds)
    returns = random.choice(_RETURNS if "inplace" not in kinds and "out" not in kinds else _RETURNS[:3])
    odd = random.randrange(len(kinds)) if random.random() < 0.7 else -1
    for i, kind in enumerate(kinds):
        end, own, more, annotation, key = _KINDS[kind]
        parts = {
            "namespace": "", "name": f"{base}{end}", "overload": "", "self": own, "arguments": arguments, "more": more,
            "returns": returns.replace("Tensor", f"Tensor{annotation}", 1), "key": key, "kernel": kernel,
        }  # fmt: skip
        if i == odd:
            _made_odd(parts, base, random)
        schema = "{namespace}{name}{overload}({self}{arguments}{more}) -> {returns}".format(**parts)
        entry = f"\n- func: {schema}\n" + f"  {parts['key']}\n" * bool(parts["key"])
        if parts["kernel"]:
            entry += f"  dispatch:\n    {parts['kernel']}: gm_kernel{i}\n"
        specs.native.append(entry)
        if random.random() < 0.2:
            specs.derivatives.append(f"\n- name: {schema}\n  self: grad\n")


def _made_odd(parts: dict[str, str], base: str, random: Random) -> None:
    """One thing of a function changed."""
    what = random.choice([*parts, "key", "kernel", "name"])
    choices = {
        "namespace": ("other::",), "overload": _OVERLOADS, "self": _SELF, "arguments": _ARGUMENTS,
        "more": ("", ", *, Tensor(c!) out", ", *, Tensor(c!) out, Tensor(d!) _scratch_n", ", *, int k"),
        "returns": (*_RETURNS, *_ANNOTATED), "key": (*_KEYS, ""), "kernel": (*_KERNELS, ""),
        "name": (*(base + end for end in _ENDS), f"__{parts['name']}__", f"__{base}__", f"__i{base}__"),
    }  # fmt: skip
    parts[what] = random.choice(choices[what])
