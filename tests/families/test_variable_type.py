"""The kernels of VariableType: their parts, which functions have them, and equality with torchgen's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from copies import copy_of
from project import Project, files_in

from pipeline.families.family import Layout
from pipeline.families.variable_type.files import VARIABLE_TYPE
from pipeline.families.variable_type.plan.kernel import plan as plan_function
from pipeline.grammar.schema import SchemaParser
from pipeline.model.autograd import Derivative, DifferentiableInput, ForwardDerivative, Info, SavedAttribute
from pipeline.model.kernels import Differentiability, FunctionWithDerivatives, KernelDerivative, KernelSaved
from pipeline.model.native import NativeFunction
from pipeline.model.units import Unit
from pipeline.problems.problem import SpecError
from pipeline.releases import KNOWN, Release, minor, resolve
from pipeline.rules.kernels.derivative import kernel_derivative, save_guard
from pipeline.rules.native.heads import head_of

UNARY = "f(Tensor self) -> Tensor"
INPLACE = "f_(Tensor(a!) self) -> Tensor(a!)"
OUT = "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
BINARY = "f(Tensor self, Tensor other) -> Tensor"
FOREACH = "_foreach_f(Tensor[] self, Tensor[] other) -> Tensor[]"
FOREACH_INPLACE = "_foreach_f_.List(Tensor(a!)[] self, Tensor[] other) -> ()"
TANGENT = ForwardDerivative("self_t * 2", ("result",), ("Tensor",), ("self",), ())


def native(func: str, version: str = "2.13", **fields: Any) -> NativeFunction:
    """A function of this schema with a generated kernel."""
    schema = SchemaParser(frozenset(resolve(version).base_types)).parse(func)
    return NativeFunction(schema, **{"is_abstract": True, **fields})


def derivative(*inputs: str, **fields: Any) -> KernelDerivative:
    """Derivatives of these inputs; other fields as they are given."""
    declared = Differentiability(
        fields.pop("non_differentiable", ()), fields.pop("single_gradient", True), fields.pop("outputs", None)
    )
    values = {
        "dispatch_key": "Default",
        "node": "FBackward0" if inputs else None,
        "operator": "f",
        "saved_inputs": (),
        "saved_outputs": (),
        "conditions": (),
        "forward": (),
        **fields,
    }
    return KernelDerivative(inputs=tuple(sorted(inputs)), differentiability=declared, **values)


def pieces(func: str, *derivatives: KernelDerivative, version: str = "2.13", **fields: Any) -> dict[str, str]:
    release = resolve(version)
    served = FunctionWithDerivatives(native(func, version, **fields), derivatives or None)
    return VARIABLE_TYPE.render(plan_function(served, release), release)


def kernel(func: str, *derivatives: KernelDerivative, version: str = "2.13", **fields: Any) -> str:
    """The kernel for the first key."""
    return next(text for piece, text in pieces(func, *derivatives, version=version, **fields).items() if "def" in piece)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def refused(func: str, *derivatives: KernelDerivative, **fields: Any) -> SpecError:
    with pytest.raises(SpecError) as caught:
        kernel(func, *derivatives, **fields)
    return caught.value


# ---- which functions have a kernel


def test_without_derivatives_a_boxed_fallback_is_registered() -> None:
    assert pieces(UNARY) == {
        "registration Default": 'm.impl("f", torch::autograd::autogradNotImplementedFallback());\n'
    }


@pytest.mark.parametrize("func", [
    "zeros_like(Tensor self) -> Tensor",  # never has a history
    "set_(Tensor(a!) self) -> Tensor(a!)",  # resets the accumulator
    "lift(Tensor self) -> Tensor",  # may return a shared tensor
    "channel_shuffle(Tensor self) -> Tensor",  # may return shared storage
    "_cudnn_rnn_flatten_weight(Tensor[] weight_arr) -> Tensor",  # may exchange arguments
    "f(Tensor self) -> int",  # has no differentiable output
])  # fmt: skip
def test_exceptions_have_a_kernel_without_derivatives(func: str) -> None:
    assert set(pieces(func)) == {"definition Default", "registration Default"}


def test_there_is_a_kernel_for_each_key() -> None:
    nested = derivative("self", dispatch_key="AutogradNestedTensor", node="FBackwardNested0")
    rendered = pieces(UNARY, derivative("self"), nested)
    assert "TORCH_FN(VariableType::f)" in rendered["registration Default"]
    assert "TORCH_FN(VariableType::f_AutogradNestedTensor)" in rendered["registration AutogradNestedTensor"]
    assert "make_intrusive<FBackwardNested0>()" in rendered["definition AutogradNestedTensor"]


def test_handwritten_kernels_are_no_units() -> None:
    release = resolve("2.13")
    for func, generated in ((UNARY, True), ("copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)", False)):
        assert VARIABLE_TYPE.selects(head_of(native(func), layered=False), release) == generated


# ---- the head, the call


def test_a_kernel_takes_the_dispatch_keys_first() -> None:
    head = kernel("f.x(Tensor self, SymInt n, str? mode=None) -> (Tensor, Tensor)", derivative("self")).splitlines()[0]
    assert head == (
        "::std::tuple<at::Tensor,at::Tensor> f_x(c10::DispatchKeySet ks, const at::Tensor & self, c10::SymInt n,"
        " ::std::optional<c10::string_view> mode) {"
    )


def test_tensors_are_unpacked_unless_they_may_be_missing() -> None:
    code = lines(kernel("f(int n, Tensor self, Tensor? a, Tensor[] list, Tensor?[] b) -> ()"))
    assert [line for line in code if "unpack(" in line] == [
        'auto& self_ = unpack(self, "self", 1);',
        'auto list_ = unpack(list, "list", 3);',
    ]
    assert "at::redispatch::f(ks & c10::after_autograd_keyset, n, self_, a, list_, b);" in code


def test_the_call_is_below_autograd_for_views_and_writes_only() -> None:
    guards = {
        func: "AutoDispatchBelowAutograd guard" in kernel(func, derivative("self"))
        for func in (UNARY, INPLACE, OUT, "t(Tensor self) -> Tensor", "chunk(Tensor self) -> Tensor[]")
    }
    assert list(guards.values()) == [False, True, True, True, True]


@pytest.mark.parametrize(("func", "called", "returned"), [
    (UNARY, "auto result = std::move(_tmp);", "return result;"),
    ("f(Tensor self) -> int", "auto result = _tmp;", "return result;"),
    ("f(Tensor self) -> Tensor values", "auto values = std::move(_tmp);", "return values;"),
    ("f(Tensor self) -> (Tensor a, Tensor b)", "auto [a, b] = std::move(_tmp);",
     "return std::make_tuple(std::move(a), std::move(b));"),
    ("f.out(Tensor self, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))",
     "at::redispatch::f_outf(ks & c10::after_autograd_keyset, self_, a_, b_);",
     "return std::forward_as_tuple(a, b);"),
    ("f(SymInt n) -> ()", "at::redispatch::f_symint(ks & c10::after_autograd_keyset, n);", "}"),
])  # fmt: skip
def test_results_are_named_and_returned(func: str, called: str, returned: str) -> None:
    code = lines(kernel(func, *([derivative("self")] if func == UNARY else [derivative()])))
    assert called in code
    assert returned in code[-2:]


def test_without_a_forward_formula_a_decomposition_is_run_for_tangents() -> None:
    text = kernel("f.x(Tensor self, Tensor[] l) -> (Tensor, Tensor)", derivative("self"))
    assert "if ((isFwGradDefined(self) || isFwGradDefinedTensorList(l))) {" in text
    assert 'full_name("aten::f", "x");' in text
    assert 'jvp<std::tuple<at::Tensor, at::Tensor>>("f", *opt_op, ks, self, l);' in text
    assert "run_jit_decomposition" not in kernel(UNARY, derivative("self", forward=(TANGENT,)))
    assert "run_jit_decomposition" not in kernel(INPLACE, derivative("self"))


# ---- checks of debug builds


def test_arguments_and_results_are_checked() -> None:
    text = kernel(UNARY, derivative("self"))
    assert text.count("#ifndef NDEBUG") == 2
    assert "self__impl_saved == self_.getIntrusivePtr()" in text
    assert 'result.storage().use_count() == 1, "function: f"' in text
    assert "result.use_count() == expected_fresh_use_count(result)" in text
    assert "result.use_count() <= 1" in kernel(UNARY, derivative("self"), version="2.9")


def test_a_view_shares_the_storage_of_its_argument() -> None:
    text = kernel("expand(Tensor self) -> Tensor", derivative("self"))
    assert "self__storage_saved.value().is_alias_of(result.storage())" in text
    assert "storage().use_count()" not in text


@pytest.mark.parametrize(("func", "storage", "tensor"), [
    ("lift(Tensor self) -> Tensor", False, False),
    ("channel_shuffle(Tensor self) -> Tensor", False, True),
    ("f(Tensor self) -> Tensor", True, True),
    ("f_(Tensor(a!) self) -> Tensor(a!)", False, False),
])  # fmt: skip
def test_results_that_may_be_shared_are_not_checked(func: str, storage: bool, tensor: bool) -> None:
    text = kernel(func, derivative("self"))
    assert ("storage().use_count()" in text, ".use_count() == expected" in text) == (storage, tensor)


def test_lists_have_separate_checks() -> None:
    text = kernel("f(Tensor[] a, Tensor?[] b) -> ()")
    assert "for (const Tensor& tensor : a_)" in text
    assert "for (const ::std::optional<Tensor>& tensor : b)" in text
    assert "a__storage_saved.reserve(a_.size());" in kernel("f(Tensor[] a) -> ()", version="2.15")


def test_without_tensors_among_the_arguments_nothing_is_checked() -> None:
    assert "NDEBUG" not in kernel("f(int n) -> Tensor", derivative())
    assert "NDEBUG" not in kernel("set_(Tensor(a!) self) -> Tensor(a!)")


# ---- history


def test_a_node_is_created_if_an_input_with_derivatives_requires_a_gradient() -> None:
    text = kernel(BINARY, derivative("other"))
    assert "auto _any_requires_grad = compute_requires_grad( other );\n\n" in text
    assert "grad_fn = c10::make_intrusive<FBackward0>();" in text
    assert "grad_fn->set_next_edges(collect_next_edges( other ));" in text
    assert 'check_no_requires_grad(self, "self", "f");' in text
    assert "set_history(flatten_tensor_args( result ), grad_fn);" in text
    assert "std::shared_ptr<FBackward0>(new FBackward0(), deleteNode);" in kernel(
        BINARY, derivative("other"), version="2.12"
    )


def test_without_derivatives_the_node_is_not_implemented() -> None:
    text = kernel("lift(Tensor self) -> Tensor")
    assert 'grad_fn = c10::make_intrusive<NotImplemented>("lift");' in text


def test_inputs_without_a_gradient_may_not_require_one_but_for_declared_ones_and_output() -> None:
    func = "f(Tensor self, Tensor a, Tensor b, Tensor output) -> Tensor"
    text = kernel(func, derivative("self", non_differentiable=("a",)))
    assert [line for line in lines(text) if "check_no_requires_grad" in line] == [
        'check_no_requires_grad(b, "b", "f");'
    ]


def test_a_condition_of_output_differentiability_applies_to_both_modes() -> None:
    text = kernel(UNARY, derivative("self", conditions=("self.ok()",), forward=(TANGENT,)))
    assert "_any_requires_grad &= (self.ok());" in text
    assert "_any_has_forward_grad_result = (self.ok()) && (isFwGradDefined(self));" in text


def test_an_inplace_op_rebases_history_unless_it_is_a_view() -> None:
    assert "rebase_history(flatten_tensor_args( self ), grad_fn);" in kernel(INPLACE, derivative("self"))
    assert "set_history(flatten_tensor_args( self ), grad_fn);" in kernel(
        "t_(Tensor(a!) self) -> Tensor(a!)", derivative("self")
    )
    assert "check_inplace(self, _any_requires_grad);" in kernel(INPLACE, derivative("self"))


def test_since_2_14_hooks_get_the_attached_node() -> None:
    for func, node in ((INPLACE, "_rebased_fn"), (UNARY, "grad_fn")):
        assert f"if ({node}) {{\n      fire_node_creation_hooks({node});" in kernel(
            func, derivative("self"), version="2.14"
        )
    assert "fire_node_creation_hooks" not in kernel(INPLACE, derivative("self"))


def test_an_out_variant_is_not_differentiated() -> None:
    text = kernel(OUT, derivative("self"))
    assert "c10::intrusive_ptr<Node> grad_fn;" in text
    assert lines(text).count('throw_error_out_requires_grad("f");') == 2
    assert "does not support it because it is an out= function" in text
    assert "(isFwGradDefined(self) || isFwGradDefined(out))" in text


def test_gradients_of_complex_tensors_are_errors_unless_known_to_be_correct() -> None:
    assert 'throw_error_for_complex_autograd(result, "f");' in kernel(UNARY, derivative("self"))
    assert "throw_error_for_complex_autograd" not in kernel("mul(Tensor self) -> Tensor", derivative("self"))
    assert "throw_error_for_complex_autograd" not in kernel(INPLACE, derivative("self"))


def test_set_resets_the_accumulator() -> None:
    assert lines(kernel("set_(Tensor(a!) self) -> Tensor(a!)"))[-3] == "reset_grad_accumulator(self);"


# ---- saved variables


@pytest.mark.parametrize(("type_", "statement"), [
    ("at::Tensor", "grad_fn->x_ = SavedVariable(x, false);"),
    ("::std::optional<at::Tensor>", "grad_fn->x_ = SavedVariable(x, false);"),
    ("at::TensorList", "grad_fn->x_ = make_saved_variable_list(x, false);"),
    ("c10::List<::std::optional<at::Tensor>>", "grad_fn->x_ = make_saved_variable_list(x, false);"),
    ("c10::SymIntArrayRef", "grad_fn->x = x.e().vec();"),
    ("at::ArrayRef<at::Scalar>", "grad_fn->x = x.e().vec();"),
    ("c10::string_view", "grad_fn->x = std::string(x.e());"),
    ("::std::optional<c10::string_view>",
     "grad_fn->x = x.e().has_value() ? ::std::optional<std::string>(std::string(x.e().value())) : ::std::nullopt;"),
    ("int64_t", "grad_fn->x = x.e();"),
])  # fmt: skip
def test_each_type_is_saved_in_its_way(type_: str, statement: str) -> None:
    saved = (KernelSaved("x", type_, "x.e()"),)
    assert statement in lines(kernel(UNARY, derivative("self", saved_inputs=saved)))


def test_a_variable_is_saved_under_its_condition() -> None:
    saved = (KernelSaved("other", "at::Tensor", "other", "grad_fn->should_compute_output(0)"),)
    text = kernel(BINARY, derivative("self", "other", saved_inputs=saved))
    assert (
        "if (grad_fn->should_compute_output(0)) {\n      grad_fn->other_ = SavedVariable(other, false);\n    }" in text
    )


def test_an_inplace_op_saves_the_old_self_and_the_new_one_as_a_view_if_it_is_one() -> None:
    own = (KernelSaved("self", "at::Tensor", "self"),)
    result = (KernelSaved("result", "at::Tensor", "result"),)
    code = lines(kernel(INPLACE, derivative("self", saved_inputs=own, saved_outputs=result)))
    assert "if (!original_self.has_value()) original_self = self.clone();" in code
    assert "grad_fn->self_ = SavedVariable(original_self.value(), false);" in code
    assert "grad_fn->result_ = SavedVariable(self, true, self.is_view());" in code
    assert refused(INPLACE, derivative("self", saved_outputs=own)).hint == "save 'result'"


def test_the_length_of_lists_is_saved() -> None:
    assert "grad_fn->l_size_ = l.size();" in kernel("f(Tensor[] l) -> Tensor", derivative("l"))


# ---- in-place foreach ops


def of_members(**fields: Any) -> KernelDerivative:
    return derivative("self", "x", reference=(("self", "Tensor"), ("x", "Tensor")), **fields)


def test_an_inplace_foreach_op_has_a_node_of_its_reference_for_each_member() -> None:
    text = kernel(FOREACH_INPLACE, of_members())
    assert "compute_requires_grad( self, other );" in text
    assert "const auto ith_requires_grad = compute_requires_grad(self[i], other[i]);" in text
    assert "grad_fn->set_next_edges(collect_next_edges( self[i], other[i] ));" in text
    assert "rebase_history(differentiable_outputs[i], grad_fns[i]);" in text
    assert "_rebased_fns[i] = rebase_history(" in kernel(FOREACH_INPLACE, of_members(), version="2.14")


def test_an_inplace_foreach_op_saves_in_a_loop_under_the_names_of_its_reference() -> None:
    saved = (
        KernelSaved("self", "at::Tensor", "self"),
        KernelSaved("x", "at::Tensor", "x"),
        KernelSaved("x_scalar_type", "at::ScalarType", "x.scalar_type()"),
    )
    code = lines(kernel(FOREACH_INPLACE, of_members(saved_inputs=saved)))
    assert "if (!original_selfs[i].has_value()) original_selfs[i] = self[i].clone();" in code
    assert "grad_fn->x_ = SavedVariable(other[i], false);" in code
    assert "grad_fn->x_scalar_type = other[i].scalar_type();" in code


def test_an_inplace_foreach_op_must_fit_its_reference() -> None:
    other_types = derivative("self", reference=(("self", "Tensor"), ("x", "Scalar")))
    fewer = derivative("self", reference=(("self", "Tensor"),))
    assert "takes 'Tensor[] other', but its reference takes 'Scalar x'" in refused(FOREACH_INPLACE, other_types).problem
    assert "has 2 arguments" in refused(FOREACH_INPLACE, fewer).problem
    assert "has no derivatives" in refused(FOREACH_INPLACE).problem
    assert "NotImplemented" in kernel("_foreach_copy_(Tensor(a!)[] self, Tensor[] src) -> ()")


# ---- forward mode


def test_a_formula_reads_tangents_and_values_in_the_order_of_inputs() -> None:
    formula = ForwardDerivative("other_t * self_p", ("result",), ("Tensor",), ("other",), ("self",))
    code = lines(kernel(BINARY, derivative("self", "other", forward=(formula,))))
    start = code.index("if (_any_has_forward_grad_result && (result.defined())) {")
    assert code[start + 1 : start + 8] == [
        "auto self_p = toNonOptPrimal(self);",
        "auto other_t_raw = toNonOptFwGrad(other);",
        "auto other_tensor = toNonOptTensor(other);",
        "auto other_t = (other_t_raw.defined() || !other_tensor.defined())",
        "? other_t_raw : at::_efficientzerotensor_symint(other_tensor.sym_sizes(), other_tensor.options());",
        "update_wrapped_number(other_tensor, other_t);",
        "result_new_fw_grad_opt = other_t * self_p;",
    ]
    older = kernel(BINARY, derivative("self", "other", forward=(formula,)), version="2.9")
    assert "update_wrapped_number" not in older


def test_inplace_a_tangent_is_cloned_or_the_old_self_is() -> None:
    again = ForwardDerivative("self_t", ("self",), ("Tensor",), ("self",), (), False, True)
    text = kernel(INPLACE, derivative("self", forward=(again,)))
    assert "self_t = GradMode::is_enabled() ? self_t.clone() : self_t;" in text
    assert "at::zeros_symint(self_tensor" in text
    old = ForwardDerivative("original_self_t", ("self",), ("Tensor",), ("self",), (), True, True)
    text = kernel(INPLACE, derivative("self", forward=(old,)))
    assert "if (_any_has_forward_grad_self) {\n    original_self = self.clone();" in text
    assert "GradMode" not in text


def test_the_zeros_of_the_old_self_are_those_of_the_last_input() -> None:
    old = ForwardDerivative("original_self_t", ("self",), ("Tensor",), ("self",), (), True)
    for func, zeros in ((INPLACE, "zeros_symint"), ("f_(Tensor(a!) self, Tensor b) -> Tensor(a!)", "_efficientzero")):
        text = kernel(func, derivative("self", forward=(old,)))
        assert f"original_self_t_raw : at::{zeros}" in text


def test_several_outputs_are_a_tuple_and_all_are_set_at_the_end() -> None:
    both = ForwardDerivative("jvp(self_t)", ("a", "b"), ("Tensor", "Tensor"), ("self",), ())
    text = kernel("f(Tensor self) -> (Tensor a, Tensor b)", derivative("self", single_gradient=False, forward=(both,)))
    assert "::std::optional<::std::tuple<at::Tensor,at::Tensor>> a_b_new_fw_grad_opt = ::std::nullopt;" in text
    assert text.index("b._set_fw_grad(std::get<1>") > text.index("a._set_fw_grad(std::get<0>") > text.index("jvp(")


def test_a_list_is_set_member_by_member() -> None:
    split = ForwardDerivative("split(self_t)", ("result",), ("Tensor[]",), ("self",), ())
    text = kernel("f(Tensor self) -> Tensor[]", derivative("self", forward=(split,)))
    assert "result[i]._set_fw_grad(result_new_fw_grad[i]" in text


def test_a_foreach_op_has_tangents_of_each_member() -> None:
    formula = ForwardDerivative("other_t * result", ("result",), ("Tensor",), ("self", "other"), ())
    text = kernel(FOREACH, derivative("self", "other", forward=(formula,)))
    assert "self.size() == other.size()," in text
    assert "_any_has_forward_grad_result[i] = isFwGradDefined(self[i]) || isFwGradDefined(other[i]);" in text
    assert "result_new_fw_grad_opts[i] = other_t * result[i];" in text


def test_a_formula_that_reads_no_tangent_is_for_a_list_alone() -> None:
    nothing = ForwardDerivative("stack_jvp(l)", ("result",), ("Tensor",), (), ())
    text = kernel("f(Tensor[] l) -> Tensor", derivative("l", forward=(nothing,)))
    assert "_any_has_forward_grad_result = true;" in text
    assert "reads no tangent" in refused(UNARY, derivative("self", forward=(nothing,))).problem


def test_tangents_are_rejected_without_formula_and_decomposition() -> None:
    assert "has not been implemented yet.\\nPlease file an issue" in kernel(INPLACE, derivative("self"))


# ---- errors


@pytest.mark.parametrize(("func", "definition", "problem"), [
    (UNARY, derivative("other"), "has derivatives of other, which are not differentiable"),
    ("zeros_like(Tensor self) -> Tensor", derivative("self"), "would be ignored"),
    (UNARY, derivative("self", conditions=("a", "b")), "several output_differentiability_conditions"),
    ("f(Tensor self) -> (Tensor a, Tensor b)", derivative("self", single_gradient=False, forward=(TANGENT,)),
     "forward formulas compute 1 outputs, but 2 outputs are differentiable"),
    (UNARY, derivative("self", outputs=(True, False)), "output_differentiability has 2 values for 1 outputs"),
    ("expand(Tensor self) -> (Tensor, Tensor)", derivative("self"), "view op 'expand' returns several values"),
])  # fmt: skip
def test_derivatives_that_do_not_fit_are_errors(func: str, definition: KernelDerivative, problem: str) -> None:
    error = refused(func, definition)
    assert problem in error.problem
    assert error.role == "derivatives"


def test_a_function_with_derivatives_needs_a_kernel_without_manual_registration() -> None:
    assert "has derivatives, but no separate kernel" in refused(UNARY, derivative("self"), is_abstract=False).problem
    assert "manual_kernel_registration" in refused(UNARY, manual_kernel_registration=True).problem


# ---- dependencies of a kernel


def info(*formulas: tuple[str, tuple[str, ...], tuple[str, ...]], name: str = "f") -> Info:
    """An info: formulas, the inputs they are for, the tensors that they save."""
    saved = {s: SavedAttribute(s, "at::Tensor", s) for _, _, used in formulas for s in used}
    derivatives = tuple(
        Derivative(formula, formula, inputs, tuple(saved[s] for s in used), (), ())
        for formula, inputs, used in formulas
    )
    inputs = [each for _, names, _ in formulas for each in names]
    differentiable = tuple(DifferentiableInput(each, "const at::Tensor &", "Tensor") for each in inputs)
    return Info(name, "", derivatives, (), tuple(saved.values()), (), (), (), differentiable, (), None, None)


def test_a_formula_that_saves_the_same_changes_no_kernel() -> None:
    kernels_ = [
        kernel_derivative("Default", "FBackward0", info((formula, ("a",), ("b",)), ("grad", ("b",), ())), None)
        for formula in ("grad * b", "grad.mul(b)", "grad / b")
    ]
    assert kernels_[0] == kernels_[1] == kernels_[2]
    used = kernel_derivative("Default", "FBackward0", info(("grads[0]", ("a",), ("b",)), ("g", ("b",), ())), None)
    assert used != kernels_[0]


MASKED = "f(grad, wrap_opt_if(b, grad_input_mask[1] || c), grad_input_mask)"


@pytest.mark.parametrize(("parsed", "guard"), [
    (info(("b", ("a",), ("b",)), ("grad", ("c",), ())), "grad_fn->should_compute_output(0)"),
    (info(("grad", ("a",), ()), ("b", ("c",), ("b",))), "grad_fn->should_compute_output(1)"),
    (info(("b", ("a",), ("b",)), ("b", ("c",), ("b",))), None),  # two formulas use it
    (info(("b", ("a",), ("b",))), None),  # one input: each computation uses it
    (info(("b", ("a",), ("b",)), ("grad", ("c",), ()), name="f_backward"), None),
    (info(("f(b)", ("a", "c"), ("b",))), None),
    (info((MASKED, ("a", "c"), ("b",))), "grad_fn->should_compute_output(1) || c"),
])  # fmt: skip
def test_a_tensor_is_saved_if_its_one_user_computes_anything(parsed: Info, guard: str | None) -> None:
    assert save_guard(parsed.all_saved_inputs[0], parsed, by_member=False) == guard


def test_a_wrapped_tensor_without_a_condition_is_an_error() -> None:
    parsed = info(("f(wrap_opt_if(b))", ("a", "c"), ("b",)))
    with pytest.raises(SpecError, match="has no condition"):
        save_guard(parsed.all_saved_inputs[0], parsed, by_member=False)


# ---- the files


def unit(name: str) -> Unit:
    return Unit(name, name, name, name, "native", name)


def test_the_intermediate_template_has_holes_for_each_key() -> None:
    outputs = {
        file.name: file
        for file in VARIABLE_TYPE.files([unit("add")], Layout(keys=("AutogradCUDA", "Default")), resolve("2.13"))
    }
    first = outputs["templates/VariableType.cpp"].constants
    assert first["wrapper_registrations"] == (
        "TORCH_LIBRARY_IMPL(aten, AutogradCUDA, m) {\n${wrapper_registrations_AutogradCUDA}\n}\n\n"
        "TORCH_LIBRARY_IMPL(aten, Autograd, m) {\n${wrapper_registrations_Default}\n}"
    )
    assert (
        outputs["VariableType_3.cpp"].slots["type_derived_method_definitions_AutogradCUDA"] == "definition AutogradCUDA"
    )


@pytest.mark.parametrize(("version", "shards", "script"), [
    ("2.4", 5, "torchgen/gen.py"),
    ("2.12", 5, "tools/setup_helpers/generate_code.py"),
    ("2.13", 10, "tools/setup_helpers/generate_code.py"),
])  # fmt: skip
def test_the_release_determines_the_number_of_files_and_their_comment(version: str, shards: int, script: str) -> None:
    outputs = VARIABLE_TYPE.files([unit("add")], Layout(keys=("Default",)), resolve(version))
    assert len(outputs) == shards + 3
    assert outputs[1].constants["generated_comment"] == f"@generated by {script} from VariableType.cpp"


def test_split_has_the_given_number_of_shards() -> None:
    units = [unit(name) for name in ("add", "mul", "exp")]
    outputs = VARIABLE_TYPE.files(units, Layout("split", 64, ("Default",)), resolve("2.13"))
    assert len(outputs) == 64 + 2
    assert sorted(name for file in outputs for name in file.units) == ["add", "exp", "mul"]
    assert all(VARIABLE_TYPE.owns(file.name) for file in outputs)


@pytest.mark.parametrize("version", KNOWN)
def test_every_release_has_all_facts_of_kernels(version: str) -> None:
    release: Release = resolve(minor(version))
    assert release.manual_backend <= release.manual_kernels
    assert release.sharing_tensors <= release.sharing_storage
    assert release.aliased("_unsafe_view") == "self"
    assert release.viewed("_unsafe_view") is None


# ---- equality with torchgen's files, and edits


@pytest.fixture
def kernels(kernels_built: Project, tmp_path: Path) -> Project:
    """A copy of a build with all families."""
    return copy_of(kernels_built, tmp_path)


def of_variable_type(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files_in(folder).items() if VARIABLE_TYPE.owns(name)}


def kernels_made(project: Project) -> list[str]:
    """The functions with rebuilt kernels of VariableType."""
    run = project.run()
    assert run.status == 0, run.stderr
    assert project.files() == project.clean_build()
    return [unit.removeprefix("VariableType::") for unit in run.units if unit.startswith("VariableType::")]


def test_a_formula_rebuilds_only_kernels_that_print_it(kernels: Project) -> None:
    kernels.build()
    kernels.set_formula("mv", "self", "grad.ger(vec.conj()).clone()")
    assert kernels_made(kernels) == []
    kernels.set_formula("mv", "self", "vec.conj().dim() * self.dim()")
    assert kernels_made(kernels) == ["mv"]


def test_a_new_key_goes_into_every_file(kernels: Project) -> None:
    kernels.build()
    before = of_variable_type(kernels.generated)
    kernels.replace("derivatives.yaml", "- name: mv(", f"{KEYED}\n- name: mv(")
    kernels.append("native_functions.yaml", KEYED_NATIVE)
    assert kernels_made(kernels) == ["keyed"]
    after = of_variable_type(kernels.generated)
    assert {name for name in after if after[name] == before[name]} == {"VariableType.h"}
    assert b"TORCH_LIBRARY_IMPL(aten, AutogradXPU, m) {" in after["VariableType_0.cpp"]


EXP = "- name: exp(Tensor self) -> Tensor\n  self: grad * result.conj()\n"
KEYED = """- name: keyed(Tensor self) -> Tensor
  dispatch:
    Default:
      self: grad
    AutogradXPU:
      self: grad * 2
"""
KEYED_NATIVE = """
- func: keyed(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: keyed
"""


def test_an_error_is_reported_at_the_derivatives(kernels: Project) -> None:
    kernels.append("native_functions.yaml", "- func: made_of_others(Tensor self) -> Tensor")
    kernels.append("derivatives.yaml", "- name: made_of_others(Tensor self) -> Tensor\n  self: grad")
    run = kernels.run()
    assert run.status != 0
    assert "derivatives.yaml" in run.stderr
    assert "made_of_others" in run.stderr
    assert "has derivatives, but no separate kernel" in run.stderr


def test_files_of_another_number_of_shards_are_removed(kernels: Project) -> None:
    kernels.build()
    files_of_ten = of_variable_type(kernels.generated)
    kernels.build(layout="split", shards=2)
    names = {"VariableType.h", "VariableType_0.cpp", "VariableType_1.cpp", "templates/VariableType.cpp"}
    assert set(of_variable_type(kernels.generated)) == names
    kernels.build()
    assert of_variable_type(kernels.generated) == files_of_ten


def test_without_its_template_the_family_and_its_files_are_removed(kernels: Project) -> None:
    kernels.build()
    kernels.path("templates/VariableType.cpp").unlink()
    kernels.build()
    assert of_variable_type(kernels.generated) == {}


def test_a_file_that_gradmill_did_not_generate_is_unchanged(kernels_built: Project, tmp_path: Path) -> None:
    kernels = Project(tmp_path, kernels_built.specs, "2.13.0", kernels=True)
    own = kernels.generated / "templates" / "VariableType.cpp"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    assert "there is a file that gradmill did not generate" in kernels.run().stderr
    assert own.read_text() == "mine"


def test_a_kernel_without_derivatives_due_to_an_error_in_them_is_no_second_error(kernels: Project) -> None:
    kernels.replace("derivatives.yaml", EXP, EXP.replace("self:", "slef:"))
    assert errors_of(kernels) == ["slef: 'slef' is neither an input nor an output of the op"]


def test_errors_in_kernels_are_reported_with_others(kernels: Project) -> None:
    kernels.replace("derivatives.yaml", EXP, EXP.replace("self:", "slef:"))
    kernels.set_formula("mv", "result", "self_p.mv(vec_p)")
    problems = errors_of(kernels)
    assert len(problems) == 2
    assert "the forward formula of result reads no tangent" in problems[1]


def errors_of(project: Project) -> list[str]:
    """The problems that a run reports, without places."""
    run = project.run()
    assert run.status == 1
    return [line.split(": ", 3)[3] for line in run.stderr.splitlines() if ": error: " in line]
