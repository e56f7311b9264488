"""The counts as a table, and everything that is not as it should be, or is known not to be, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from in_torch.differences import Comparison, Difference, Record, compare
from in_torch.kernels import Expected, Kernel
from in_torch.known import Known

# What was called, by how its name begins.
GROUPS = {"torch's descriptions of operators": "torch ", "Nodes with cases of their own": "case ", "calls": "call "}


def report(expected: Expected, ours: Record, stock: Record, known: Known) -> int:
    """Prints all. Gives the exit status."""
    compared = compare(ours, stock, known.cut)
    here = ours[""]
    lacking = sorted(expected.kernels - here["ran"])
    reasons = {kernel: why for kernel in lacking if (why := _reason(kernel, known))}
    wrong = [d for d in compared.different if (d.operator, d.what) not in known.different]
    allowed = {(d.operator, d.what) for d in compared.different} & known.different.keys()
    missing = {key: count - here["registered"][key] for key, count in expected.keys.items()}
    for key, count in sorted(expected.keys.items()):
        row(f"operators that have ours at {key}", here["registered"][key], count)
    for family in sorted({family for family, _ in expected.kernels}):
        all_of = {kernel for kernel in expected.kernels if kernel[0] == family}
        row(f"kernels of {family} that ran", len(all_of & here["ran"]), len(all_of))
    for what, start in GROUPS.items():
        named = [name for name in stock if name.startswith(start)]
        row(f"{what} that ours ran for", len(compared.operators.intersection(named)), len(named))
    answers(compared, wrong)
    for (family, kernel), why in reasons.items():
        print(f"{kernel} of {family} did not run: {why}")
    for operator, what in sorted(allowed):
        print(f"{operator}, {what}: different, because {known.different[operator, what]}")
    for family, kernel in sorted(set(lacking) - reasons.keys()):
        print(f"{kernel} of {family} did not run")
    for key in (key for key, count in missing.items() if count):
        print(f"{missing[key]} operators do not have ours at {key}")
    return int(bool(wrong or len(lacking) > len(reasons) or any(missing.values())))


def answers(compared: Comparison, wrong: list[Difference]) -> None:
    """Prints how many answers are equal, by question, and those that are not and should be."""
    row("samples of all", compared.samples, compared.samples)
    for question, count in sorted(compared.asked.items()):
        row(f"{question}: equal", compared.equal[question], count)
    row("all answers: equal", compared.equal.total(), compared.asked.total())
    for what, count in sorted(compared.cut.items()):
        row(f"answers that ended for want of {what}", count, compared.asked.total())
    for line in _lines(wrong):
        print(line)


def row(what: str, count: int, of: int) -> None:
    print(f"{what:64} {count:6} of {of:6}")


def _lines(differences: list[Difference]) -> Iterator[str]:
    """Of many that are alike, one."""
    alike: dict[tuple[str, str], list[Difference]] = {}
    for difference in differences:
        alike.setdefault((difference.operator, difference.what), []).append(difference)
    for result in alike.values():
        more = f" (and {len(result) - 1} more samples)" if len(result) > 1 else ""
        yield f"{result[0]}{more}"


def _reason(kernel: Kernel, known: Known) -> str:
    name = kernel[1]
    return known.not_run.get(name) or next((why for end, why in known.not_run.items() if name.endswith(f"_{end}")), "")
