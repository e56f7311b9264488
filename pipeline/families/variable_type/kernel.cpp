// The C++ of one autograd kernel. Each section is one piece of text; a piece has one section for each release that
// changed it. `${name}` is a hole: alone on its line it takes an indented block. An empty section means that older
// releases do not print the piece.
//// kernel, since 2.4
${returns} ${name}(${parameters}) {
  ${body}
}
//// registration, since 2.4
m.impl("${operator}",
       TORCH_FN(VariableType::${name})
);
//// fallback, since 2.4
m.impl("${operator}", torch::autograd::autogradNotImplementedFallback());
//// requires_grad, since 2.4
[[maybe_unused]] auto _any_requires_grad = compute_requires_grad( ${inputs} );
${condition}
//// flag, since 2.4
[[maybe_unused]] auto ${flag} = ${condition};
//// same_size, since 2.4
TORCH_CHECK(
    self.size() == ${list}.size(),
      "Tensor lists must have the same number of tensors, got ",
    self.size(),
      " and ",
    ${list}.size());
//// flag_by_member, since 2.4
std::vector<bool> ${flag}(self.size());
for (const auto& i : c10::irange(self.size())) {
  ${flag}[i] = ${condition};
}
//// original, since 2.4
c10::optional<at::Tensor> original_self;
//// original, since 2.5
::std::optional<at::Tensor> original_self;
//// original_by_member, since 2.4
std::vector<c10::optional<at::Tensor>> original_selfs(self.size());
//// original_by_member, since 2.5
std::vector<::std::optional<at::Tensor>> original_selfs(self.size());
//// clone, since 2.4
if (${condition}) {
  original_self = self.clone();
}
//// clone_by_member, since 2.4
for (const auto& i : c10::irange(self.size())) {
  if (${condition}) {
    original_selfs[i] = self[i].clone();
  }
}
//// none_requires_grad, since 2.4
if (compute_requires_grad( ${checked} )) {
  throw_error_out_requires_grad("${base}");
}
//// grad_fn, since 2.4
std::shared_ptr<${node}> grad_fn;
//// grad_fn, since 2.13
c10::intrusive_ptr<${node}> grad_fn;
//// setup, since 2.4
if (_any_requires_grad) {
  ${statements}
}
//// new_node, since 2.4
grad_fn = std::shared_ptr<${node}>(new ${node}(${constructor}), deleteNode);
grad_fn->set_next_edges(collect_next_edges( ${edges} ));
//// new_node, since 2.13
grad_fn = c10::make_intrusive<${node}>(${constructor});
grad_fn->set_next_edges(collect_next_edges( ${edges} ));
//// grad_fns, since 2.4
std::vector<std::shared_ptr<${node}>> grad_fns;
//// grad_fns, since 2.13
std::vector<c10::intrusive_ptr<${node}>> grad_fns;
//// new_nodes, since 2.4
for (const auto& i : c10::irange( self.size() )) {
  const auto ith_requires_grad = compute_requires_grad(${edges});
  check_inplace(self[i], ith_requires_grad);
  grad_fns.push_back([&]() -> std::shared_ptr<${node}> {
      if (!ith_requires_grad) {
          return nullptr;
      } else {
          auto grad_fn = std::shared_ptr<${node}>(new ${node}(${constructor}), deleteNode);
          grad_fn->set_next_edges(collect_next_edges( ${edges} ));
          return grad_fn;
      }
  }());
}
//// new_nodes, since 2.13
for (const auto& i : c10::irange( self.size() )) {
  const auto ith_requires_grad = compute_requires_grad(${edges});
  check_inplace(self[i], ith_requires_grad);
  grad_fns.push_back([&]() -> c10::intrusive_ptr<${node}> {
      if (!ith_requires_grad) {
          return nullptr;
      } else {
          auto grad_fn = c10::make_intrusive<${node}>(${constructor});
          grad_fn->set_next_edges(collect_next_edges( ${edges} ));
          return grad_fn;
      }
  }());
}
//// each_grad_fn, since 2.4
if (!grad_fns.empty()) {
    ${first}
    for (const auto& i : c10::irange(grad_fns.size())) {
        auto grad_fn = grad_fns[i];
        if (grad_fn != nullptr) {
            ${statements}
        }
    }
}
//// each_grad_fn, since 2.15
if (!grad_fns.empty()) {
    ${first}
    for (const auto& i : c10::irange(grad_fns.size())) {
        const auto& grad_fn = grad_fns[i];
        if (grad_fn != nullptr) {
            ${statements}
        }
    }
}
//// optional_string, since 2.4
${value}.has_value() ? c10::optional<std::string>(std::string(${value}.value())) : c10::nullopt
//// optional_string, since 2.5
${value}.has_value() ? ::std::optional<std::string>(std::string(${value}.value())) : ::std::nullopt
//// guarded, since 2.4
if (${condition}) {
  ${statements}
}
//// set_history, since 2.4
if (grad_fn) {
    set_history(flatten_tensor_args( ${outputs} ), grad_fn);
}
//// rebase_history, since 2.4
if (grad_fn) {
    rebase_history(flatten_tensor_args( ${outputs} ), grad_fn);
}
//// rebase_history, since 2.14
c10::intrusive_ptr<Node> _rebased_fn;
if (grad_fn) {
    _rebased_fn = rebase_history(flatten_tensor_args( ${outputs} ), grad_fn);
}
//// members_of_history, since 2.4
auto differentiable_outputs = flatten_tensor_args( ${outputs} );
TORCH_INTERNAL_ASSERT(differentiable_outputs.size() == grad_fns.size());
//// set_history_by_member, since 2.4
set_history(differentiable_outputs[i], grad_fns[i]);
//// rebase_history_by_member, since 2.4
rebase_history(differentiable_outputs[i], grad_fns[i]);
//// rebase_history_by_member, since 2.14
_rebased_fns[i] = rebase_history(differentiable_outputs[i], grad_fns[i]);
//// rebased_fns, since 2.4
//// rebased_fns, since 2.14
c10::SmallVector<c10::intrusive_ptr<Node>, 8> _rebased_fns(grad_fns.size());
//// creation_hooks, since 2.4
//// creation_hooks, since 2.14
if (${grad_fn}) {
    fire_node_creation_hooks(${grad_fn});
}
//// creation_hooks_by_member, since 2.4
//// creation_hooks_by_member, since 2.14
for (const auto& i : c10::irange(grad_fns.size())) {
    if (${grad_fns}[i]) {
        fire_node_creation_hooks(${grad_fns}[i]);
    }
}
