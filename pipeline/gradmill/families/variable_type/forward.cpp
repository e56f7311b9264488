// The C++ of forward mode in an autograd kernel. families/sections.py explains the notation.
//// tangent
auto ${name}_t_raw = toNonOptFwGrad(${expr});
auto ${name}_tensor = toNonOptTensor(${expr});
auto ${name}_t = (${name}_t_raw.defined() || !${name}_tensor.defined())
  ? ${name}_t_raw : at::${zeros}(${name}_tensor.sym_sizes(), ${name}_tensor.options());
//// wrapped_number
//>=2.10 update_wrapped_number(${name}_tensor, ${name}_t);
//// primal
auto ${name}_p = toNonOptPrimal(${expr});
//// cloned_tangent
self_t = GradMode::is_enabled() ? self_t.clone() : self_t;
//// formula
//<2.5 ${type} ${outputs}_new_fw_grad_opt = c10::nullopt;
//>=2.5 ${type} ${outputs}_new_fw_grad_opt = ::std::nullopt;
if (${condition}) {
    ${operands}
    ${outputs}_new_fw_grad_opt = ${formula};
}
//// formula_by_member
//<2.5 std::vector<${type}> ${outputs}_new_fw_grad_opts(self.size(), c10::nullopt);
//>=2.5 std::vector<${type}> ${outputs}_new_fw_grad_opts(self.size(), ::std::nullopt);
for (const auto& i : c10::irange(${outputs}_new_fw_grad_opts.size())) {
  if (${condition}) {
      ${operands}
      ${outputs}_new_fw_grad_opts[i] = ${formula};
  }
}
//// set
if (${output}_new_fw_grad_opt.has_value() && ${output}_new_fw_grad_opt.value().defined() && ${output}.defined()) {
  // The hardcoded 0 here will need to be updated once we support multiple levels.
  ${output}._set_fw_grad(${output}_new_fw_grad_opt.value(), /* level */ 0, /* is_inplace_op */ ${inplace});
}
//// set_by_member
for (const auto& i : c10::irange(${output}_new_fw_grad_opts.size())) {
  auto& ${output}_new_fw_grad_opt = ${output}_new_fw_grad_opts[i];
  if (${output}_new_fw_grad_opt.has_value() && ${output}_new_fw_grad_opt.value().defined() && ${output}[i].defined()) {
    // The hardcoded 0 here will need to be updated once we support multiple levels.
    ${output}[i]._set_fw_grad(${output}_new_fw_grad_opt.value(), /* level */ 0, /* is_inplace_op */ ${inplace});
  }
}
//// set_one_of
if (${outputs}_new_fw_grad_opt.has_value() && std::get<${index}>(${outputs}_new_fw_grad_opt.value()).defined()
    && ${output}.defined()) {
  ${output}._set_fw_grad(std::get<${index}>(${outputs}_new_fw_grad_opt.value()), /* level */ 0, /* is_inplace_op */ false);
}
//// set_list
if (${output}_new_fw_grad_opt.has_value()) {
  auto ${output}_new_fw_grad = ${output}_new_fw_grad_opt.value();
  TORCH_INTERNAL_ASSERT(${output}.size() == ${output}_new_fw_grad.size());
  for (const auto i : c10::irange(${output}.size())) {
    if (${output}_new_fw_grad[i].defined() && ${output}[i].defined()) {
      // The hardcoded 0 here will need to be updated once we support multiple levels.
      ${output}[i]._set_fw_grad(${output}_new_fw_grad[i], /* level */ 0, /* is_inplace_op */ ${inplace});
    }
  }
}
//// refusal
TORCH_CHECK_NOT_IMPLEMENTED(!(${condition}), "Trying to use forward AD with ${operator} that does not support it ${why}");
//// why_out
because it is an out= function
//// why_missing
because it has not been implemented yet.\nPlease file an issue to PyTorch at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its implementation.
