"""The counts as a table, and everything that is not as it should be, or is known not to be, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from in_torch.differences import Difference, Record, compare
from in_torch.kernels import Expected, Kernel

# What was called, by how its name begins.
GROUPS = {"torch's descriptions of operators": "torch ", "Nodes with cases of their own": "case ", "calls": "call "}
# Kernels that cannot run here.
NOT_RUN = {
    **dict.fromkeys(
        ("linear", "linalg_multi_dot", "linalg_multi_dot_out_out", "upsample_nearest1d_vec"),
        "in torch the operator is a composite, which goes before",
    ),
    **dict.fromkeys(("_resize_output_", "_resize_output_out_out"), "the operator is not for tensors of the CPU"),
    "AutogradCUDA": "there is no such device",
}
# Answers that differ, and may.
DIFFERENT = {
    ("case MseLossBackwardBackward0", "forward gradcheck"): "torch's own formula writes into zeros that have no memory",
}


def report(expected: Expected, ours: Record, stock: Record, *, whole: bool = False) -> int:
    """Prints all. Gives the exit status. Of the whole of torch no samples reach all kernels."""
    compared = compare(ours, stock)
    here = ours[""]
    lacking = [] if whole else sorted(expected.kernels - here["ran"])
    known = [kernel for kernel in lacking if _reason(kernel)]
    wrong = [d for d in compared.different if (d.operator, d.what) not in DIFFERENT]
    allowed = {(d.operator, d.what) for d in compared.different} & DIFFERENT.keys()
    missing = {key: count - here["registered"][key] for key, count in expected.keys.items()}
    for key, count in sorted(expected.keys.items()):
        _row(f"operators that have ours at {key}", here["registered"][key], count)
    for family in sorted({family for family, _ in expected.kernels}):
        all_of = {kernel for kernel in expected.kernels if kernel[0] == family}
        _row(f"kernels of {family} that ran", len(all_of & here["ran"]), len(all_of))
    for what, start in GROUPS.items():
        named = [name for name in stock if name.startswith(start)]
        _row(f"{what} that ours ran for", len(compared.operators.intersection(named)), len(named))
    _row("samples of all", compared.samples, compared.samples)
    for question, count in sorted(compared.asked.items()):
        _row(f"{question}: equal", compared.equal[question], count)
    _row("all answers: equal", compared.equal.total(), compared.asked.total())
    if whole:
        _row("answers that ended in what libtorch does not export", compared.cut.total(), compared.asked.total())
    for line in (*_told(wrong), *_reasons(known)):
        print(line)
    for operator, what in sorted(allowed):
        print(f"{operator}, {what}: different, because {DIFFERENT[operator, what]}")
    for family, kernel in sorted(set(lacking) - set(known)):
        print(f"{kernel} of {family} did not run")
    for key in (key for key, count in missing.items() if count):
        print(f"{missing[key]} operators do not have ours at {key}")
    return int(bool(wrong or len(lacking) > len(known) or any(missing.values())))


def _row(what: str, count: int, of: int) -> None:
    print(f"{what:64} {count:6} of {of:6}")


def _told(differences: list[Difference]) -> Iterator[str]:
    """Of many that are alike, one."""
    alike: dict[tuple[str, str], list[Difference]] = {}
    for difference in differences:
        alike.setdefault((difference.operator, difference.what), []).append(difference)
    for found in alike.values():
        more = f" (and {len(found) - 1} more samples)" if len(found) > 1 else ""
        yield f"{found[0]}{more}"


def _reason(kernel: Kernel) -> str:
    name = kernel[1]
    return NOT_RUN.get(name) or next((why for end, why in NOT_RUN.items() if name.endswith(f"_{end}")), "")


def _reasons(kernels: list[Kernel]) -> Iterator[str]:
    for kernel in kernels:
        yield f"{kernel[1]} of {kernel[0]} did not run: {_reason(kernel)}"
