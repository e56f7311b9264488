"""Random functions that torch has no like of: entries of native_functions.yaml, most of them together with variants."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

Entry = dict[str, Any]

_TYPES = """
    int SymInt float bool Scalar Tensor Storage SymInt? int? str? Scalar? ScalarType? Generator? Tensor? Tensor[]
    Tensor?[] Scalar[] SymInt[] SymInt[2] SymInt[]? SymInt?[] int[] int[2] int[]? float[]? bool[3]
""".split()
_NAMES = ("other", "dim", "x", "k", "size", "w", "dtype")
_RESULTS = ("()", "Tensor", "(Tensor, Tensor)", "Tensor[]", "(Tensor, int)", "Tensor?", "(Tensor[], Tensor[])")
_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_MEMORY_FORMAT = ", MemoryFormat? memory_format=None"
_KEYS = """
    CPU CUDA CompositeExplicitAutograd SparseCPU SparseCsrCUDA QuantizedCPU MkldnnCPU Meta MPS NestedTensorCPU
    ZeroTensor SparseMeta CompositeImplicitAutograd CompositeExplicitAutogradNonFunctional
""".split()
_STRUCTURED = ("CPU", "CUDA", "MPS", "SparseCPU", "SparseCsrCPU")
_COMMON = "CompositeExplicitAutograd"


class RandomFunctions:
    """A source of functions. Each call of `variants` returns the entries of one operator, `name` and its like."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def variants(self, name: str) -> list[Entry]:
        """The entries of an operator: one, a triple with an out variant, or a view with its copy."""
        make = self._random.choice((self._inplace, self._functional, self._mutable, self._view, self._triple))
        entries = make(name)
        if make != self._view:
            for entry in entries:
                self._settle(entry)
        if make == self._triple and self._random.random() < 0.6:
            self._structure(entries, name)
        return entries

    def _arguments(self, *, written: bool = False) -> tuple[str, str]:
        """Positional and keyword-only arguments. `written`: whether tensors among the first may be written to."""
        names = self._random.sample(_NAMES, self._random.randint(0, 5))
        split = self._random.randint(0, len(names))
        positional = [self._argument(name, i, written=written) for i, name in enumerate(names[:split])]
        return ", ".join(positional), ", ".join(self._argument(name, 0, written=False) for name in names[split:])

    def _argument(self, name: str, number: int, *, written: bool) -> str:
        type_ = self._random.choice(_TYPES)
        default = "=None" if type_.endswith("?") and self._random.random() < 0.3 else ""
        if written and "Tensor" in type_ and self._random.random() < 0.5:
            type_ = type_.replace("Tensor", f"Tensor({chr(ord('b') + number)}!)")
        return f"{type_} {name}{default}"

    def _inplace(self, name: str) -> list[Entry]:
        own, returns = self._random.choice(
            (("Tensor(a!) self", "Tensor(a!)"), ("Tensor(a!)[] self", "()"), ("Tensor(a!) self", "()"))
        )
        schema = _schema(f"{name}_", own, self._arguments(), returns)
        return [self._generating(schema, f"{name}, {name}.out", f"{name}.out, {name}")]

    def _functional(self, name: str) -> list[Entry]:
        own, arguments = self._random.choice(("Tensor self", "", "Tensor? self")), self._arguments()
        if self._random.random() < 0.3 and "dtype" not in arguments[0]:
            own, arguments = "", (arguments[0], _OPTIONS + self._random.choice(("", _MEMORY_FORMAT)))
        schema = _schema(name, own, arguments, self._random.choice(_RESULTS))
        return [self._generating(schema, f"{name}.out")]

    def _mutable(self, name: str) -> list[Entry]:
        own = self._random.choice(("Tensor self", "Tensor(a!) self", ""))
        schema = _schema(name, own, self._arguments(written=True), self._random.choice(_RESULTS))
        return [self._generating(schema, f"{name}_functional, {name}.out")]

    def _generating(self, schema: str, *lists: str) -> Entry:
        """An entry that mostly asks for variants."""
        generated = self._random.choice((*lists, *lists, ""))
        return {"func": schema, **({"autogen": generated} if generated else {})}

    def _triple(self, name: str) -> list[Entry]:
        """A functional, an out and an in-place variant, or two of them."""
        positional, keywords = self._arguments()
        out = ", ".join(filter(None, (keywords, "Tensor(z!) out")))
        schemas = [
            _schema(name, "Tensor self", (positional, keywords), "Tensor"),
            _schema(f"{name}.out", "Tensor self", (positional, out), "Tensor(z!)"),
            _schema(f"{name}_", "Tensor(a!) self", (positional, keywords), "Tensor(a!)"),
        ]
        return [{"func": each} for each in self._random.sample(schemas, self._random.randint(2, 3))]

    def _view(self, name: str) -> list[Entry]:
        """A view, mostly with its copy, some with an in-place variant."""
        arguments, several = self._arguments(), self._random.random() < 0.3
        own, returns = ("Tensor(a -> *) self", "Tensor(a)[]") if several else ("Tensor(a) self", "Tensor(a)")
        suffix = "_symint" if "SymInt" in "".join(arguments) and self._random.random() < 0.5 else ""
        key = self._random.choice((_COMMON, "CPU", "CompositeImplicitAutograd"))
        kernel = {"dispatch": {key: f"{name}_kernel{suffix}"}}
        entries = [{"func": _schema(name, own, arguments, returns), **kernel}]
        if self._random.random() < 0.85:
            copy = _schema(f"{name}_copy", "Tensor self", arguments, returns.replace("(a)", ""))
            kernels = {"CompositeExplicitAutogradNonFunctional": f"{name}_copy{suffix}"}
            entries.append({"func": copy, "tags": "view_copy", "dispatch": kernels, "autogen": f"{name}_copy.out"})
        if not several and self._random.random() < 0.4:
            inplace = _schema(f"{name}_", "Tensor(a!) self", arguments, "Tensor(a!)")
            entries.append({"func": inplace, "tags": "inplace_view", **kernel})
        return entries

    def _settle(self, entry: Entry) -> None:
        """The keys of an entry besides its schema."""
        random = self._random
        symint = "_symint" if "SymInt" in entry["func"] else ""
        keys = random.sample(_KEYS, random.randint(1, 3)) if random.random() < 0.7 else [_COMMON]
        entry["dispatch"] = {key: f"kernel_{random.randrange(10**4)}{random.choice(('', symint))}" for key in keys}
        for key, value in (("device_check", "NoCheck"), ("device_guard", False), ("cpp_no_default_args", ["dim"])):
            if random.random() < 0.1:
                entry[key] = value
        if "Tensor self" in entry["func"] and ".out" not in entry["func"]:
            entry["variants"] = random.choice(("function", "method", "function, method"))
        if random.random() < 0.15:
            entry[random.choice(("manual_cpp_binding", "use_const_ref_for_mutable_tensors"))] = True

    def _structure(self, entries: Sequence[Entry], name: str) -> None:
        """Makes a triple structured."""
        for entry in entries:
            kernels = entry.pop("dispatch")
            if f"{name}.out(" in entry["func"]:
                keys = self._random.sample(_STRUCTURED, self._random.randint(1, 3))
                entry.update(structured=True, dispatch=dict.fromkeys(keys, next(iter(kernels.values()))))
            else:
                entry["structured_delegate"] = f"{name}.out"


def _schema(name: str, own: str, arguments: tuple[str, str], returns: str) -> str:
    positional, keywords = arguments
    parts = [own, positional, f"*, {keywords}" if keywords else ""]
    return f"{name}({', '.join(filter(None, parts))}) -> {returns}"
