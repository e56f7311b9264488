// The C++ of one autograd kernel. families/sections.py explains the notation.
//// kernel
${returns} ${name}(${parameters}) {
  ${body}
}
//// registration
m.impl("${operator}",
       TORCH_FN(VariableType::${name})
);
//// fallback
m.impl("${operator}", torch::autograd::autogradNotImplementedFallback());
//// requires_grad
[[maybe_unused]] auto _any_requires_grad = compute_requires_grad( ${inputs} );
${condition}
//// flag
[[maybe_unused]] auto ${flag} = ${condition};
//// same_size
TORCH_CHECK(
    self.size() == ${list}.size(),
      "Tensor lists must have the same number of tensors, got ",
    self.size(),
      " and ",
    ${list}.size());
//// flag_by_member
std::vector<bool> ${flag}(self.size());
for (const auto& i : c10::irange(self.size())) {
  ${flag}[i] = ${condition};
}
//// original
//<2.5 c10::optional<at::Tensor> original_self;
//>=2.5 ::std::optional<at::Tensor> original_self;
//// original_by_member
//<2.5 std::vector<c10::optional<at::Tensor>> original_selfs(self.size());
//>=2.5 std::vector<::std::optional<at::Tensor>> original_selfs(self.size());
//// clone
if (${condition}) {
  original_self = self.clone();
}
//// clone_by_member
for (const auto& i : c10::irange(self.size())) {
  if (${condition}) {
    original_selfs[i] = self[i].clone();
  }
}
//// none_requires_grad
if (compute_requires_grad( ${checked} )) {
  throw_error_out_requires_grad("${base}");
}
//// grad_fn
//<2.13 std::shared_ptr<${node}> grad_fn;
//>=2.13 c10::intrusive_ptr<${node}> grad_fn;
//// setup
if (_any_requires_grad) {
  ${statements}
}
//// new_node
//<2.13 grad_fn = std::shared_ptr<${node}>(new ${node}(${constructor}), deleteNode);
//>=2.13 grad_fn = c10::make_intrusive<${node}>(${constructor});
grad_fn->set_next_edges(collect_next_edges( ${edges} ));
//// grad_fns
//<2.13 std::vector<std::shared_ptr<${node}>> grad_fns;
//>=2.13 std::vector<c10::intrusive_ptr<${node}>> grad_fns;
//// new_nodes
for (const auto& i : c10::irange( self.size() )) {
  const auto ith_requires_grad = compute_requires_grad(${edges});
  check_inplace(self[i], ith_requires_grad);
//<2.13   grad_fns.push_back([&]() -> std::shared_ptr<${node}> {
//>=2.13   grad_fns.push_back([&]() -> c10::intrusive_ptr<${node}> {
      if (!ith_requires_grad) {
          return nullptr;
      } else {
//<2.13           auto grad_fn = std::shared_ptr<${node}>(new ${node}(${constructor}), deleteNode);
//>=2.13           auto grad_fn = c10::make_intrusive<${node}>(${constructor});
          grad_fn->set_next_edges(collect_next_edges( ${edges} ));
          return grad_fn;
      }
  }());
}
//// each_grad_fn
if (!grad_fns.empty()) {
    ${first}
    for (const auto& i : c10::irange(grad_fns.size())) {
//<2.15         auto grad_fn = grad_fns[i];
//>=2.15         const auto& grad_fn = grad_fns[i];
        if (grad_fn != nullptr) {
            ${statements}
        }
    }
}
//// optional_string
//<2.5 ${value}.has_value() ? c10::optional<std::string>(std::string(${value}.value())) : c10::nullopt
//>=2.5 ${value}.has_value() ? ::std::optional<std::string>(std::string(${value}.value())) : ::std::nullopt
//// guarded
if (${condition}) {
  ${statements}
}
//// set_history
if (grad_fn) {
    set_history(flatten_tensor_args( ${outputs} ), grad_fn);
}
//// rebase_history
//>=2.14 c10::intrusive_ptr<Node> _rebased_fn;
if (grad_fn) {
//<2.14     rebase_history(flatten_tensor_args( ${outputs} ), grad_fn);
//>=2.14     _rebased_fn = rebase_history(flatten_tensor_args( ${outputs} ), grad_fn);
}
//// members_of_history
auto differentiable_outputs = flatten_tensor_args( ${outputs} );
TORCH_INTERNAL_ASSERT(differentiable_outputs.size() == grad_fns.size());
//// set_history_by_member
set_history(differentiable_outputs[i], grad_fns[i]);
//// rebase_history_by_member
//<2.14 rebase_history(differentiable_outputs[i], grad_fns[i]);
//>=2.14 _rebased_fns[i] = rebase_history(differentiable_outputs[i], grad_fns[i]);
//// rebased_fns
//>=2.14 c10::SmallVector<c10::intrusive_ptr<Node>, 8> _rebased_fns(grad_fns.size());
//// creation_hooks
//>=2.14 if (${grad_fn}) {
//>=2.14     fire_node_creation_hooks(${grad_fn});
//>=2.14 }
//// creation_hooks_by_member
//>=2.14 for (const auto& i : c10::irange(grad_fns.size())) {
//>=2.14     if (${grad_fns}[i]) {
//>=2.14         fire_node_creation_hooks(${grad_fns}[i]);
//>=2.14     }
//>=2.14 }
