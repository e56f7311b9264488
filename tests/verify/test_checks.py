"""The checks of formulas that are written in Python here, and what torch's own formula decides of a finding."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from project import ROOT
from torch import Tensor

from gradmill.extensions.verify import model
from gradmill.extensions.verify.child import checks
from gradmill.extensions.verify.child.call_at_sample import Point, slope
from gradmill.extensions.verify.child.calls import SEED
from gradmill.extensions.verify.child.formulas import (
    Args,
    CompiledFormulas,
    FormulaError,
    Formulas,
    NotImplementedFormula,
    TorchFormulas,
    primal,
    tangent,
)
from gradmill.extensions.verify.child.operators import (
    Device,
    function_of,
    has_kernel,
    overload,
    own_formula,
    torchs_function,
)
from gradmill.extensions.verify.child.own import is_shared
from gradmill.extensions.verify.child.samples import Sample
from gradmill.extensions.verify.child.second_order import forward_over_reverse, of_tangents, second
from gradmill.extensions.verify.child.verdict import Verdict
from gradmill.extensions.verify.process import environment
from gradmill.extensions.verify.report import problems
from gradmill.extensions.verify.run import Result

Gradients = list[Tensor | None]


def subject(inputs: list[str], outputs: list[str], operator: str = "aten::mine") -> dict[str, Any]:
    return {
        "name": "MineBackward0",
        "operator": operator,
        "arguments": inputs,
        "inputs": inputs,
        "outputs": outputs,
        "differentiable": [True] * len(outputs),
        "read": [True] * len(outputs),
        "not_implemented": [],
        "tangents": [],
        "inplace": False,
        "backward": "mine",
    }


def function(operator: str) -> Any:
    """An operator of torch, as formulas call it."""
    return function_of(operator, overload(operator)._schema, {})


def torchs(operator: str) -> TorchFormulas:
    """Torch's own formula of an operator of one input and one output."""
    return TorchFormulas(subject(["self"], ["result"], operator), function(operator))


class Written(Formulas):
    """Formulas that are written here. They get the arguments, and as more arguments what comes in: `gradient` the
    gradients of the outputs, `tangent` the tangents of the arguments."""

    def __init__(
        self,
        own: dict[str, Any],
        function: Any,
        gradient: Callable[..., Gradients] | None = None,
        tangent: Callable[..., Gradients] | None = None,
    ) -> None:
        super().__init__(own, function)
        self.gradient, self.tangent = gradient, tangent

    def gradients(
        self, args: Args, results: Sequence[Any], cotangents: Sequence[Tensor | None], needs: Sequence[bool]
    ) -> Gradients:
        assert self.gradient is not None
        return self.gradient(args, *cotangents)

    def outputs_tangents(self, args: Args, results: Sequence[Any], tangents: Sequence[Any]) -> dict[str, Gradients]:
        assert self.tangent is not None
        return {"result": self.tangent(args, *tangents)}


class Sine(Written):
    """A formula of sin: `factor` times the right one, of which `changed` makes another, if it is given."""

    def __init__(self, factor: complex = 1.0, changed: Callable[[Args, Tensor], Tensor] | None = None) -> None:
        super().__init__(subject(["self"], ["result"], "aten::sin"), function("aten::sin"), self.right)
        self.factor, self.changed = factor, changed

    def right(self, args: Args, grad: Tensor) -> Gradients:
        gradient = self.factor * grad * args[0].cos()
        return [self.changed(args, gradient) if self.changed else gradient]


RELU = subject(["self"], ["result"], "aten::relu") | {"backward": "", "tangents": [{"outputs": ["result"]}]}


def ramp() -> Written:
    """A formula of relu's tangent that is one at zero, where torch's is zero."""
    return Written(RELU, function("aten::relu"), tangent=lambda args, tangent: [tangent * (args[0] >= 0)])


def raises(error: Exception) -> Callable[..., Any]:
    """A formula that raises an error."""

    def formula(*_: object) -> Any:
        raise error

    return formula


def noise(args: Args) -> tuple[Tensor, Args]:
    """An operator that writes its second argument."""
    return args[0] * 3, (args[0], torch.full_like(args[1], 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda step: 1e-10 / step if step else 0.0,
        lambda step: 24 * step + 1e-8 * (step > 0),
        lambda step: step if abs(step) > 1e-5 else 2 * step,
        lambda step: abs(step) ** 1.5 * (1 if step > 0 else -1) + step,
    ],
    ids=["pole", "jump", "inexact", "infinite curvature"],
)
def test_differences_decide_nothing_where_those_of_a_wide_step_are_others(function: Callable[[float], float]) -> None:
    wanted = slope(function, single=False)
    assert wanted is not None
    value = round(function(1e-3) / 1e-3)
    assert not wanted.fits(value)
    assert not wanted.contradicts(value)


def test_differences_of_two_steps_contradict_what_is_wrong_also_at_a_kink() -> None:
    for function in (lambda step: 2 * step, lambda step: max(2 * step, 0)):
        wanted = slope(function, single=True)
        assert wanted is not None
        assert wanted.contradicts(2.01)
        assert not wanted.contradicts(2)


def test_a_finding_that_is_no_convention_takes_the_place_of_one_that_may_be() -> None:
    wrong, own = Sine(2), torchs("aten::abs")
    wrong.function, own.gradients = own.function, wrong.gradients  # type: ignore[method-assign]
    points = numbers(0), numbers(1, 2)
    (alone,), (other,) = (verdict(wrong, own, *each)["shared"] for each in (points[:1], points))
    assert (alone["doubtful"], other["doubtful"]) == (True, False)
    assert other["input"] == "self=tensor([1, 2])"
    (smallest,) = verdict(wrong, own, numbers(1, 2, 3), numbers(2), numbers(1, 2))["shared"]
    assert smallest["input"] == "self=tensor([2])"


def test_what_a_forward_saved_makes_no_bug_of_torch() -> None:
    """`buffer` is a function of `self` in the formulas, and is given here."""
    operator = "aten::log_sigmoid_backward"
    own = subject(["grad_output", "self"], ["result"], operator) | {"arguments": ["grad_output", "self", "buffer"]}
    formulas = TorchFormulas(own, function(operator))
    of = Verdict(formulas, formulas)
    of.check([Sample((numbers(1), numbers(-4.8), numbers(0.008)), "made", "plain")], {}, lambda number: None)
    shared = of.result()["shared"]
    assert "gradient" in [each["check"] for each in shared]
    assert all(each["doubtful"] for each in shared)


def test_a_tangent_in_the_memory_of_an_inputs_is_found() -> None:
    def kept(function: Any) -> Written:
        return Written(RELU, function, tangent=lambda _, tangent: [tangent])

    def copy(args: Args) -> tuple[Any, Args]:
        return args[0] + 1, args

    def view(args: Args) -> tuple[Any, Args]:
        return args[0].view(-1), args

    point = numbers(0.5, 2)
    (finding,) = verdict(kept(copy), None, point)["findings"]
    assert (finding["check"], finding["name"], finding["computed"]) == ("shared memory", "result", "self")
    copied = Written(RELU, copy, tangent=lambda _, tangent: [tangent.clone()])
    assert found(verdict(copied, None, point)) == []
    assert found(verdict(kept(view), None, point)) == []
    generated = kept(copy)
    generated.name = "ViewBackward0_copy"
    assert found(verdict(generated, None, point)) == []
    frac = kept(function("aten::frac"))
    result = verdict(frac, TorchFormulas(RELU | {"operator": "aten::frac"}, frac.function), point)
    assert (found(result), [each["check"] for each in result["shared"]]) == ([], ["shared memory"])


def test_a_formula_is_called_if_an_input_whose_tangent_it_reads_has_one() -> None:
    def formula(*_: object) -> bytes:
        return b"it was called"

    reads = {"symbol": "formula", "outputs": ["result"], "inputs": ["other"]}
    own = subject(["self", "other"], ["result"]) | {"backward": "", "tangents": [reads]}
    formulas = CompiledFormulas(own, SimpleNamespace(formula=formula), function("aten::sin"), Device(""))  # type: ignore[arg-type]
    args, results = (numbers(1), numbers(2)), [numbers(3)]
    assert formulas.outputs_tangents(args, results, [numbers(1), None]) == {"result": [None]}
    with pytest.raises(FormulaError, match="it was called"):
        formulas.outputs_tangents(args, results, [None, numbers(1)])


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def verdict(formulas: Formulas, own: TorchFormulas | None, *points: Tensor) -> dict[str, Any]:
    of = Verdict(formulas, own)
    of.check([Sample((point,), "made", "plain") for point in points], {}, lambda number: None)
    return of.result()


def found(result: dict[str, Any]) -> list[str]:
    return [each["check"] for each in result["findings"]]


def test_an_undefined_output_keeps_its_place_in_second_derivatives() -> None:
    def gradient(args: Args, left_out: Tensor | None, grad: Tensor) -> Gradients:
        assert left_out is None
        return [grad * args[1], grad * args[0]]

    own = subject(["x", "y"], ["left_out", "result"])
    product = Written(own, lambda args: ((None, args[0] * args[1]), args), gradient)
    point = Point(product, (numbers(0.5, 2), numbers(3, 0.25)))
    assert list(checks.gradient(point)) == []
    assert list(second(point)) == []


def test_the_formula_of_a_tangent_reads_what_the_operator_wrote() -> None:
    own = subject(["x", "noise"], ["result"]) | {"inputs": ["x"], "backward": "", "tangents": [{}]}
    formulas = Written(own, noise, tangent=lambda args, tangent, _: [tangent * args[1]])
    assert list(checks.tangents(Point(formulas, (numbers(0.5, 2), numbers(0, 0))))) == []


def test_a_member_without_a_tangent_may_get_one_that_is_nan() -> None:
    def members(args: Args, _: object) -> Gradients:
        """A formula for each member, which is zero times infinity without a tangent."""
        moves = [tangent(each) for each in args[0]]
        return [numbers(torch.nan) if each is None else each for each in moves]

    own = subject(["self"], ["result"]) | {"tangents": [{}]}
    formulas = Written(own, lambda args: ([each * 1 for each in args[0]], args), tangent=members)
    assert list(checks.tangents(Point(formulas, ([numbers(0.5), numbers(2)],)))) == []


def test_torchs_own_formula_gets_the_gradients_of_outputs_that_are_there() -> None:
    operator = "aten::convolution_backward"
    schema = overload(operator)._schema
    arguments = [each.name for each in schema.arguments]
    own = subject(["grad_output", "input", "weight"], ["result0", "result1", "result2"], operator)
    formulas = TorchFormulas(own | {"arguments": arguments}, function_of(operator, schema, {}))
    images, mask = torch.ones(1, 1, 3, 3, dtype=torch.float64), [False, True, False]
    args = (images, images, images[..., :1, :1], None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, mask)
    torch.default_generator.manual_seed(SEED)
    gradients = Point(formulas, args).gradients()
    assert gradients[0] is not None
    assert gradients[1] is not None


def test_a_formula_is_wrong_even_if_torch_has_none_for_the_operator() -> None:
    operator = "aten::special_bessel_j0"
    own = torchs(operator)
    with pytest.raises(NotImplementedFormula):
        own.gradients((numbers(0.5),), [numbers(0.5)], [numbers(1)], [True])
    wrong = Sine(2)
    wrong.function = own.function
    assert found(verdict(wrong, own, numbers(0.5))) == ["gradient"]


def test_a_complex_gradient_of_a_real_input_is_reported_with_what_to_do() -> None:
    result = verdict(Sine(1j), None, numbers(0.5))
    assert "second" not in result["done"]
    findings = tuple(model.Finding(**row) for row in result["findings"])
    code = model.Code(model.Subject("N", "aten::sin", "sin", "", (), (), (), (), (), (), "", ()), "", "")
    (problem,) = problems(Result(((code, model.Verdict("N", findings=findings)),), 1, "2.13.0"))
    assert problem.problem == "the gradient of self is of type complex128, and must be float64"
    advice = "take the real part where self is real, as torch's handle_r_to_c(self.scalar_type(), …) does"
    assert problem.hint == f"{advice}; for self=tensor([0.5])"


def test_what_torchs_own_formula_has_as_well_is_shared() -> None:
    wrong = Sine(2)
    own = torchs("aten::sin")
    assert found(verdict(wrong, own, numbers(0.5))) == ["gradient"]
    own.gradients = wrong.gradients  # type: ignore[method-assign]
    result = verdict(wrong, own, numbers(0.5))
    assert found(result) == []
    assert [(each["check"], each["doubtful"]) for each in result["shared"]] == [("gradient", False)]


def test_what_follows_from_a_tangent_that_is_wrong_in_torch_is_no_finding() -> None:
    of, sample = Verdict(Sine(), torchs("aten::sin")), Sample((numbers(0.5),), "made", "plain")
    of._keep(checks.Finding("tangent of the gradient", "grad", "1", "2"), sample, forward_over_reverse, False)
    assert len(of._shown()) == 1
    of._keep(checks.Finding("tangent for that of self", "result", "1", "2"), sample, checks.tangents, True)
    assert of._shown() == []


def test_what_torch_shares_is_no_bug_in_lower_precision_or_at_infinite_numbers() -> None:
    def rough(args: Args, gradient: Tensor) -> Tensor:
        """Exact in double precision, zero in a lower one and at numbers that are not finite."""
        exact = args[0].dtype == torch.float64 and args[0].isfinite().all()
        return gradient if exact else torch.zeros_like(args[0])

    own = torchs("aten::sin")
    own.gradients = Sine(changed=rough).gradients  # type: ignore[method-assign]
    shared = verdict(Sine(changed=rough), own, numbers(0.5, 0.7), numbers(0.5, torch.inf))["shared"]
    assert "gradient if all is float32" in {each["check"] for each in shared}
    assert [each["check"] for each in shared if not each["doubtful"]] == []


def test_a_tangent_at_a_kink_is_compared_with_torchs() -> None:
    own = TorchFormulas(RELU, function("aten::relu"))
    assert found(verdict(ramp(), own, numbers(0, 1))) == ["torch's own tangent"]
    assert found(verdict(ramp(), own, numbers(0.5, -1))) == []


def test_a_gradient_is_compared_with_torchs_where_both_have_the_same_wrong_tangent() -> None:
    relu = function("aten::relu")
    both = Written(RELU, relu, lambda args, grad: [grad * (args[0] >= 0)], lambda _, tangent: [tangent * 2])
    both.has_backward = True
    own = TorchFormulas(RELU | {"backward": "torch's"}, relu)
    own.outputs_tangents = both.outputs_tangents  # type: ignore[method-assign]
    assert found(verdict(both, own, numbers(0, 1))) == ["torch's own"]


def test_an_in_place_variant_that_returns_something_else_has_another_gradient() -> None:
    for factor, expected in ((1, []), (2, ["gradient where mine_ writes into a view"])):
        formulas = Sine()
        formulas.in_place = [("mine_", lambda args, factor=factor: (args[0].sin() * factor, args))]
        result = verdict(formulas, torchs("aten::sin"), numbers(0.5, 2))
        assert found(result) == expected
        assert result["done"]["written"] == 1


def test_the_formula_of_an_in_place_variant_reads_what_that_wrote_besides() -> None:
    own = subject(["self", "noise"], ["result"]) | {"inputs": ["self"]}
    formulas = Written(own, noise, lambda args, grad: [grad * args[1]])
    formulas.in_place = [("mine_", noise)]
    assert list(checks.written(Point(formulas, (numbers(0.5, 2), numbers(0, 0))))) == []


def test_an_in_place_variant_that_refuses_its_arguments_is_not_counted() -> None:
    formulas = Sine()
    formulas.in_place = [("mine_", raises(RuntimeError("the result needs another shape")))]
    assert "written" not in verdict(formulas, None, numbers(0.5))["done"]


def test_each_mode_of_an_operator_gets_second_derivatives() -> None:
    for modes, count in ((["sum"] * 9, 3), ([*["sum"] * 9, "mean"], 4)):
        of = Verdict(Sine(), None)
        of.check([Sample((numbers(0.5), mode), "made", "plain") for mode in modes], {}, lambda number: None)
        assert of.done["second"] == count


def test_samples_whose_gradients_are_zero_leave_second_derivatives_to_others() -> None:
    for factor, count in ((1, 3), (0, 9)):
        of = Verdict(Sine(factor), None)
        of.check([Sample((numbers(0.5),), "made", "plain")] * 9, {}, lambda number: None)
        assert of.done["second"] == count


def test_only_checks_of_formulas_that_are_there_are_done() -> None:
    assert "tangents" not in verdict(Sine(), None, numbers(0.5))["done"]
    assert "gradient" not in verdict(ramp(), None, numbers(0.5))["done"]


def test_an_error_at_one_sample_of_many_is_reported_if_torch_has_none() -> None:
    def positive(args: Args, gradient: Tensor) -> Tensor:
        if bool((args[0] < 0).any()):
            raise FormulaError("no negative numbers")
        return gradient

    points = [numbers(-1), *(numbers(0.5 + number) for number in range(5))]
    for own in (torchs("aten::sin"), None):
        assert found(verdict(Sine(changed=positive), own, *points)) == ["error"]


def test_what_a_formula_lacks_is_an_error_where_torchs_own_has_it() -> None:
    own = torchs("aten::sin")
    lacking = Sine(changed=raises(NotImplementedFormula("not implemented for 'CPU'")))
    assert found(verdict(lacking, own, numbers(0.5))) == ["error"]
    assert found(verdict(lacking, None, numbers(0.5))) == ["error"]
    assert verdict(Sine(), own, numbers(0.5))["unchecked"] == ""
    own.gradients = lacking.gradients  # type: ignore[method-assign]
    result = verdict(lacking, own, numbers(0.5))
    assert (found(result), result["unchecked"]) == ([], "gradient: not implemented for 'CPU'")


def test_a_second_derivative_that_raises_an_error_is_one() -> None:
    def once(args: Args, gradient: Tensor) -> Tensor:
        spoilt = gradient.exp()
        return gradient + (spoilt * spoilt.add_(0) if gradient.requires_grad else 0) * 0

    for own in (torchs("aten::sin"), None):
        (row,) = verdict(Sine(changed=once), own, numbers(0.5))["findings"]
        assert (row["check"], row["expected"]) == ("error", "second")
        assert "modified by an inplace operation" in row["computed"]


def test_a_gradient_of_memory_that_was_not_written_to_is_an_error_unless_torchs_own_is_one() -> None:
    def unwritten(*steps: int) -> Sine:
        contents = itertools.chain(steps, itertools.count())  # in place of memory that the C library fills
        return Sine(changed=lambda args, _: torch.full_like(args[0], next(contents)))

    own = torchs("aten::sin")
    assert found(verdict(unwritten(), own, numbers(0.5))) == ["memory"]
    own.gradients = unwritten().gradients  # type: ignore[method-assign]
    result = verdict(unwritten(), own, numbers(0.5))
    assert (found(result), result["done"].get("gradient")) == ([], None)
    by_chance = unwritten(0, 0, 0, 1, 2)  # the first times it reads the same
    own.gradients = by_chance.gradients  # type: ignore[method-assign]
    assert found(verdict(unwritten(), own, numbers(0.5))) == []


def test_a_small_error_of_a_constant_is_found() -> None:
    assert found(verdict(Sine(1 + 7e-5), None, numbers(0.5, 2))) == ["gradient"]
    assert found(verdict(Sine(1 + 1e-6), None, numbers(0.5, 2))) == ["gradient"]
    assert found(verdict(Sine(1 + 1e-12), None, numbers(0.5, 2))) == []


def test_the_gradient_of_an_output_that_no_formula_reads_is_zero_or_an_error() -> None:
    own = subject(["self"], ["one", "other"]) | {"read": [True, False]}
    for factor, expected in ((3, ["gradient of other outputs"]), (0, [])):
        both = Written(
            own,
            lambda args, factor=factor: ((args[0] * 2, args[0] * factor), args),
            lambda _, grad, other: [None if grad is None else grad * 2],
        )
        assert found(verdict(both, None, numbers(0.5, 2))) == expected


@pytest.mark.parametrize(
    ("check", "of_finite"),
    [
        ("gradient of an infinite one", lambda grad: grad),
        ("gradient of a nan", lambda grad: grad.clamp(-1e30, 1e30)),  # zero where grad is infinite
    ],
)
def test_a_gradient_is_masked_where_torchs_own_is(check: str, of_finite: Callable[[Tensor], Tensor]) -> None:
    own = torchs("aten::relu")
    of_relu = subject(["self"], ["result"], "aten::relu")
    masked = Written(of_relu, own.function, lambda args, grad: [of_finite(grad) * (args[0] > 0)])
    assert found(verdict(masked, own, numbers(0.5, -2))) == [check]
    assert found(verdict(masked, own, numbers(0.5, 2))) == []


def test_a_formula_may_refuse_gradients_of_nan_where_torchs_own_does() -> None:
    def finite(_: Args, gradient: Tensor) -> Tensor:
        if bool(gradient.isnan().any()):
            raise FormulaError("the loss is not finite")
        return gradient

    own = torchs("aten::sin")
    assert found(verdict(Sine(changed=finite), own, numbers(0.5))) == ["error"]
    own.gradients = Sine(changed=finite).gradients  # type: ignore[method-assign]
    assert found(verdict(Sine(changed=finite), own, numbers(0.5))) == []


def test_a_finding_is_shared_with_torch_only_if_torchs_is_about_the_same_input() -> None:
    def factors(args: Args, grad: Tensor) -> Gradients:
        return [grad * args[1] * 2, grad * args[0]]

    own = subject(["self", "other"], ["result"], "aten::mul.Tensor")
    product = function("aten::mul.Tensor")
    torchs_own = TorchFormulas(own, product)
    sample = Sample((numbers(0.5, 2), numbers(3, 0.25)), "made", "plain")
    for wrong_in_torch, expected in (("self", []), ("other", ["gradient"])):

        def gradients(args: Args, results: Any, cotangents: Any, needs: Any, wrong: str = wrong_in_torch) -> Gradients:
            factors = (2, 1) if wrong == "self" else (1, 2)
            return [cotangents[0] * args[1] * factors[0], cotangents[0] * args[0] * factors[1]]

        torchs_own.gradients = gradients  # type: ignore[method-assign]
        of = Verdict(Written(own, product, factors), torchs_own)
        of.check([sample], {}, lambda number: None)
        assert found(of.result()) == expected


def test_an_error_is_shared_with_torch_whatever_torchs_own_formula_has_there() -> None:
    def check(point: Point) -> Iterator[checks.Finding]:
        yield checks.Finding("undefined gradient", "result", "the error: not differentiable", "none")

    point = Point(Sine(), (numbers(0.5),))
    assert is_shared(check, checks.Finding("error", "", "not differentiable", "undefined"), point)
    assert not is_shared(check, checks.Finding("gradient if that of result is undefined", "self", "1", "2"), point)


def test_torchs_own_formula_decides_nothing_where_it_returns_something_else_each_time() -> None:
    own, count = torchs("aten::sin"), itertools.count(2)
    for changes in (False, True):
        own.gradients = lambda *_, changes=changes: [numbers(next(count) if changes else 2)]  # type: ignore[method-assign]
        formulas = Sine()
        formulas.gradients = lambda *_: [numbers(1)]  # type: ignore[method-assign]
        result = verdict(formulas, own, numbers(torch.inf))
        assert found(result) == ([] if changes else ["torch's own"])
        reasons = [each for each in result["skipped"] if each.endswith("returns something else each time")]
        assert bool(reasons) == changes


def test_a_verdict_has_the_samples_with_what_was_checked_and_why_not() -> None:
    of = Verdict(Sine(), torchs("aten::sin"))
    samples = [Sample((numbers(0.5, 2),), "made", "plain"), Sample((torch.ones(2).bool(),), "made", "point", "bools")]
    of.check(samples, {}, lambda number: None)
    first, other = of.result()["tried"]
    assert (first["input"], first["source"], first["skipped"]) == ("self=tensor([0.5, 2])", "made", [])
    assert {"gradient", "second", "lower"} <= set(first["checks"])
    assert (other["point"], other["checks"]) == ("bools", [])
    assert other["skipped"] == ["no input or no output of this operator is differentiable"]


def test_a_gradient_that_differs_from_torchs_is_right_where_differences_decide_for_it() -> None:
    own = torchs("aten::sin")
    own.gradients = Sine(2).gradients  # type: ignore[method-assign]
    result = verdict(Sine(), own, numbers(0.5, 2))
    assert (found(result), result["shared"]) == ([], [])


def test_a_formula_that_ends_the_process_is_an_error_where_torchs_own_does_not() -> None:
    sample = Sample((numbers(0.5),), "made", "plain")
    for own in (torchs("aten::sin"), None):
        of = Verdict(Sine(changed=lambda *_: os._exit(0)), own)
        of.check([sample], {0: "ends the process with status 0"}, lambda number: pytest.fail("it is run"))
        assert found(of.result()) == ["end"]
    survives = Verdict(Sine(), torchs("aten::sin"))
    survives.check([sample], {0: "ends the process with signal 6"}, lambda number: pytest.fail("it is run"))
    assert found(survives.result()) == []


def test_a_gradient_is_the_same_if_a_graph_of_it_is_recorded() -> None:
    def other(_: Args, gradient: Tensor) -> Tensor:
        return gradient + (gradient - gradient.detach() + torch.is_grad_enabled())

    assert "gradient if a graph is recorded" in found(verdict(Sine(changed=other), torchs("aten::sin"), numbers(0.5)))


def test_a_formula_that_takes_double_precision_alone_is_an_error() -> None:
    def double(args: Args, gradient: Tensor) -> Tensor:
        if args[0].dtype != torch.float64:
            raise FormulaError("expected Double")
        return gradient

    (row,) = verdict(Sine(changed=double), torchs("aten::sin"), numbers(0.5))["findings"]
    assert (row["check"], row["expected"]) == ("error", "lower")


def test_a_formula_that_loses_digits_in_float32_is_an_error_where_torchs_own_has_them() -> None:
    def half(_: Args, gradient: Tensor) -> Tensor:
        return gradient.half().float() if gradient.dtype == torch.float32 else gradient

    points = numbers(0.3, 0.7, 1.1, 1.9)
    assert found(verdict(Sine(changed=half), torchs("aten::sin"), points)) == ["gradient if all is float32"]
    assert found(verdict(Sine(), torchs("aten::sin"), points)) == []


def test_a_tangent_of_the_gradient_that_is_lost_is_an_error_where_torchs_own_has_it() -> None:
    def losing(args: Args, grad: Tensor) -> Gradients:
        gradient = grad * args[0].cos()
        return [gradient if gradient.requires_grad else primal(gradient)]

    both = subject(["self"], ["result"], "aten::sin") | {"tangents": [{"outputs": ["result"]}]}
    own = TorchFormulas(both, function("aten::sin"))
    formulas = Written(both, own.function, losing, lambda args, tangent: [tangent * args[0].cos()])
    result = verdict(formulas, own, numbers(0.5, 2))
    assert (found(result), result["shared"]) == (["tangent of the gradient"], [])


def test_derivatives_of_tangents_are_computed_as_torch_nests_them() -> None:
    def asking(keeps: bool) -> Written:
        """The tangent of sin, which keeps the slope of that for tensors of functorch alone, or for none."""

        def formula(args: Args, tangent: Tensor) -> Gradients:
            wrapped = torch._C._functorch.is_functorch_wrapped_tensor(args[0])
            plain = torch._C._functorch.get_unwrapped(args[0]) if wrapped else args[0]
            kept = args[0] if wrapped and keeps else numbers(*plain.tolist())
            return [tangent * kept.cos()]

        return Written(sine, function("aten::sin"), tangent=formula)

    def of(point: Point) -> list[str]:
        return [each.check for each in of_tangents(point)]

    sine = subject(["self"], ["result"], "aten::sin") | {"backward": "", "tangents": [{"outputs": ["result"]}]}
    assert of(Point(asking(True), (numbers(0.5, 2),))) == []
    assert of(Point(asking(False), (numbers(0.5, 2),))) == ["derivative of the tangent, forward over forward"]


def test_derivatives_of_tangents_are_those_of_each_output_whatever_comes_first() -> None:
    class Apart(Formulas):
        """sin, and the sum of it, whose formula for tangents comes first."""

        def outputs_tangents(self, args: Args, results: Sequence[Any], tangents: Sequence[Any]) -> dict[str, Gradients]:
            tangent = tangents[0] * args[0].cos()
            return {"sum": [tangent.sum()], "sine": [tangent]}

    own = subject(["self"], ["sine", "sum"]) | {
        "backward": "",
        "tangents": [{"outputs": ["sum"]}, {"outputs": ["sine"]}],
    }
    formulas = Apart(own, lambda args: ((args[0].sin(), args[0].sin().sum()), args))
    assert list(of_tangents(Point(formulas, (numbers(0.5, 2),)))) == []


def test_a_gradient_that_is_conjugated_when_it_is_read_is_one_of_a_formula() -> None:
    def real(_: Args, grad: Tensor) -> Gradients:
        try:
            return [torch.view_as_real(grad)]
        except RuntimeError as error:
            raise FormulaError(str(error)) from None

    operator = "aten::view_as_complex"
    own, subject_ = torchs(operator), subject(["self"], ["result"], operator)
    point = numbers(0.5, 2)
    (row,) = verdict(Written(subject_, own.function, real), own, point)["findings"]
    assert (row["check"], row["expected"]) == ("error", "layout")
    resolved = Written(subject_, own.function, lambda args, grad: real(args, grad.resolve_conj()))
    assert found(verdict(resolved, own, point)) == []


def test_the_gradients_of_equal_elements_of_two_inputs_add_up_to_that_of_both() -> None:
    def larger(parts: Sequence[float]) -> Callable[..., Gradients]:
        """The formula of maximum, with the parts of equal elements."""

        def formula(args: Args, grad: Tensor) -> Gradients:
            one, other = args
            ties = [torch.where(one == other, grad * part, grad) for part in parts]
            return [ties[0].masked_fill(one < other, 0), ties[1].masked_fill(one > other, 0)]

        return formula

    operator = "aten::maximum"
    own, maximum = subject(["self", "other"], ["result"], operator), function(operator)
    samples = [Sample((numbers(0, 1), numbers(0, 2)), "made", "point")]
    for parts, expected in (((0.5, 0.5), []), ((1, 0.5), ["gradient"]), ((0, 0.5), ["gradient"])):
        of = Verdict(Written(own, maximum, larger(parts)), TorchFormulas(own, maximum))
        of.check(samples, {}, lambda number: None)
        assert found(of.result()) == expected
        assert [each["name"] for each in of.result()["findings"]] == ["self and other"] * len(expected)


def test_gradients_that_are_checked_at_few_samples_are_not_verified() -> None:
    def elsewhere(args: Args, gradient: Tensor) -> Tensor:
        if args[0].numel():
            raise ValueError("an unknown layout")
        return gradient

    points = [numbers(), *(numbers(0.5 + number) for number in range(12))]
    assert verdict(Sine(changed=elsewhere), None, *points)["unchecked"] == "gradient: ValueError: an unknown layout"
    assert verdict(Sine(), None, *points)["unchecked"] == ""


def test_a_formula_that_reads_no_gradient_is_checked() -> None:
    def of(value: float) -> dict[str, Any]:
        own, of_round = torchs("aten::round"), subject(["self"], ["result"], "aten::round") | {"read": [False]}
        formulas = Written(of_round, own.function, lambda args, _: [torch.full_like(args[0], value)])
        return verdict(formulas, own, numbers(0.2, 1.3))

    right = of(0)
    assert (right["done"]["gradient"], right["unchecked"], found(right)) == (1, "", [])
    assert found(of(1)) == ["gradient"]


def test_a_complex_tangent_of_a_real_output_is_cast_as_torch_does() -> None:
    def tangent_of(args: Args, tangent: Tensor) -> Gradients:
        return [torch.complex(tangent * (args[0] > 0), tangent)]

    relu = function("aten::relu")
    formulas = Written(RELU, relu, tangent=tangent_of)
    assert found(verdict(formulas, TorchFormulas(RELU, relu), numbers(0, 1))) == []


def test_torch_uses_its_own_formula_of_an_operator_that_it_composes_of_others() -> None:
    operator, ones = "aten::_fused_rms_norm", torch.ones(2, 3, dtype=torch.float64, requires_grad=True)

    def node() -> str:
        return type(overload(operator)(ones, [3], None, 0.1)[0].grad_fn).__name__

    composed = node()
    with own_formula(operator):
        assert node() == "FusedRmsNormBackward0"
    assert node() == composed != "FusedRmsNormBackward0"


def at(name: str, *values: Any) -> Point:
    """Torch's own formulas of an operator at values of its arguments."""
    schema = overload(f"aten::{name}")._schema
    arguments = [each.name for each in schema.arguments][: len(values)]
    inputs = [each for each, value in zip(arguments, values) if isinstance(value, Tensor)]
    outputs = [f"result{i}" for i in range(len(schema.returns))]
    own = subject(inputs, outputs, f"aten::{name}") | {"arguments": arguments}
    return Point(TorchFormulas(own, function(f"aten::{name}")), values)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("exp", (numbers(0, 0),), True),
        ("abs", (numbers(0, 0),), False),
        ("sign", (numbers(0, 0),), False),
        ("clamp_min", (numbers(0.5, 0.5), 0.5), False),
        ("clamp_min", (numbers(0.49, 0.51), 0.5), True),
        ("maximum", (numbers(0.5, 2), numbers(0.5, 2)), False),
        ("huber_loss", (numbers(1.5, 2.5), numbers(0.5, 1.5), 0, 1.0), True),
        ("sqrt", (numbers(0, 1),), False),
        ("exp", (numbers(torch.nan, 1),), False),
        ("copysign.Tensor", (numbers(0, 0), numbers(0, 0)), False),
        ("amax", (numbers(2, 1, 2),), False),
        ("kthvalue", (numbers(0, 0, 0), 2), False),
        ("kthvalue", (numbers(0, 2, 1), 2), True),
        ("median.dim", (numbers(-1, -1, -1), 0), False),
        ("nanmedian.dim", (torch.zeros(3, 4, dtype=torch.float64), 0), False),
    ],
)
def test_differences_show_whether_an_operator_is_smooth_at_a_point(
    name: str, values: tuple[Any, ...], expected: bool
) -> None:
    assert at(name, *values).is_smooth == expected


def test_second_derivatives_decide_nothing_where_the_gradient_is_not_smooth() -> None:
    with pytest.raises(checks.Inapplicable):
        list(second(at("huber_loss", numbers(1.5, 2.5), numbers(0.5, 1.5), 0, 1.0)))
    assert list(second(at("huber_loss", numbers(0.6, 2.5), numbers(0.5, 2.2), 0, 1.0))) == []


def test_finite_differences_of_large_values_are_as_exact_as_these() -> None:
    wanted = slope(lambda step: 1e10 + step, single=True)
    assert wanted is not None
    assert wanted.fits(1)
    assert not wanted.fits(20)


def test_formulas_that_run_on_a_device_are_compared_with_torchs_on_the_cpu() -> None:
    schema = overload("aten::exp")._schema
    function = torchs_function("aten::exp", schema, {"device": "of a vendor"})
    assert function is not None
    assert function((numbers(0),))[0].tolist() == [1]
    assert torchs_function("aten::exp", schema, {"exp": torch.exp}) is None
    assert torchs_function("aten::_cudnn_rnn", overload("aten::_cudnn_rnn")._schema, {"device": "cuda"}) is None


def test_operators_of_other_devices_have_no_kernel() -> None:
    assert has_kernel("aten::exp")
    assert not has_kernel("aten::_cudnn_rnn")


FREED = """
import torch
from torch import tensor
from gradmill.extensions.verify.child.operators import function_of, overload
from gradmill.extensions.verify.child.checks import memory
from gradmill.extensions.verify.child.call_at_sample import Point
from gradmill.extensions.verify.child.formulas import TorchFormulas
operator = "aten::native_batch_norm"
schema = overload(operator)._schema
names = [each.name for each in schema.arguments]
outputs = {"outputs": ["a", "b", "c"], "differentiable": [True, False, False], "read": [True, False, False]}
subject = {"name": "Mine", "operator": operator, "arguments": names, "inputs": ["input"], **outputs}
subject |= {"not_implemented": [], "tangents": [], "inplace": False, "backward": "torch's"}
formulas = TorchFormulas(subject, function_of(operator, schema, {}))
x, ones = torch.arange(6.0).double().view(2, 3), torch.ones(3).double()
for variance in ones, ones[:1].expand(3):
    point = Point(formulas, (x, None, None, ones, variance, False, 0.1, 0.1))
    print(not list(memory(point)))
"""


def test_what_is_computed_from_freed_memory_is_found_out() -> None:
    """Torch 2.13 reads a copy of a variance that is not contiguous after it freed it."""
    words = [sys.executable, "-c", FREED]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False, env=environment())
    assert (done.stdout, done.stderr) == ("True\nFalse\n", "")
