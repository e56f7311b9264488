"""What was recorded with our kernels and with torch's, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from in_torch.calls import LEFT_OUT, Answer

Record = dict[str, Any]


class Difference(NamedTuple):
    operator: str
    question: str  # the number of the sample, and what was asked
    ours: str
    stock: str

    @property
    def what(self) -> str:
        """What was asked, of whichever sample."""
        return _what(self.question)

    def __str__(self) -> str:
        return f"{self.operator}, {self.question}\n    ours:  {self.ours}\n    torch: {self.stock}"


class Comparison(NamedTuple):
    """All answers, both ways."""

    operators: set[str]  # whose calls ran a kernel of ours
    asked: Counter[str]  # answers, by question
    equal: Counter[str]
    cut: Counter[str]  # answers that ended in what is not there, by what that is
    different: list[Difference]

    @property
    def samples(self) -> int:
        return self.asked["value"]


def load(paths: list[Path]) -> Record:
    """The records of all parts as one; what belongs to the whole process is added up."""
    whole: Record = {}
    for path in paths:
        part = torch.load(path, weights_only=False)
        last = part.pop("", None)
        whole |= part
        if last is not None:
            known = whole.setdefault("", {"answers": {}, "ran": set(), "registered": last["registered"]})
            known["ran"] |= last["ran"]
    return whole


def compare(ours: Record, stock: Record, cut: Mapping[str, str]) -> Comparison:
    """All operators, answer by answer: where a call runs no kernel of ours, its derivatives may. `cut` has what is in
    messages that say nothing of our kernels, and what is not there then."""
    result = Comparison(set(), Counter(), Counter(), Counter(), [])
    for operator, record in ours.items():
        if not operator:
            continue
        if record["ran"]:
            result.operators.add(operator)
        for question, mine, theirs in _pairs(record["answers"], stock[operator]["answers"]):
            result.asked[_what(question)] += 1
            if same(mine, theirs):
                result.equal[_what(question)] += 1
            elif mine[0] == "error" and (lacking := [what for text, what in cut.items() if text in mine[1]]):
                result.cut[lacking[0]] += 1
            else:
                result.different.append(Difference(operator, question, *_texts(mine, theirs)))
    return result


def _what(question: str) -> str:
    return question.partition(", ")[2].removeprefix("functional, ")


def _pairs(ours: dict[str, Answer], stock: dict[str, Answer]) -> Iterator[tuple[str, Answer, Answer]]:
    for question in sorted(ours.keys() | stock.keys()):
        yield question, _answer(ours, question), _answer(stock, question)


def _answer(answers: dict[str, Answer], question: str) -> Answer:
    """What was answered: of a call that was left out, the same to all questions."""
    nothing: Answer = ("error", "not asked")
    sample = question.partition(", ")[0]
    kind, result = answers.get(f"{sample}, value", nothing)
    return answers.get(question, (kind, result) if kind == "error" and LEFT_OUT in result else nothing)


def same(mine: Answer, theirs: Answer) -> bool:
    """The same error, or values as near as two ways to compute them are."""
    if mine[0] != theirs[0]:
        return False
    if mine[0] == "error":
        return bool(mine[1] == theirs[1])
    return len(mine[1]) == len(theirs[1]) and all(map(_near, mine[1], theirs[1]))


def _near(mine: torch.Tensor, theirs: torch.Tensor) -> bool:
    if (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
        return False
    if not (mine.is_floating_point() or mine.is_complex()):
        return torch.equal(mine, theirs)
    single = mine.dtype not in (torch.float64, torch.complex128)
    rtol, atol = (1e-3, 1e-4) if single else (1e-6, 1e-8)
    return torch.allclose(mine, theirs, rtol=rtol, atol=atol, equal_nan=True)


def _texts(mine: Answer, theirs: Answer) -> tuple[str, str]:
    """Both in a line each; of values those that differ."""
    if mine[0] == theirs[0] == "values" and len(mine[1]) == len(theirs[1]):
        apart = [(a, b) for a, b in zip(mine[1], theirs[1]) if not _near(a, b)]
        return _line("values", [a for a, _ in apart]), _line("values", [b for _, b in apart])
    return _line(*mine), _line(*theirs)


def _line(kind: str, value: Any) -> str:
    if kind == "error":
        return " ".join(str(value).split())[:200]
    return "; ".join(f"{list(t.shape)} {t.flatten()[:4].tolist()}" for t in value)[:200]
