// The C++ of one Node. `${name}` is a hole: alone on its line it takes an indented block; `${,name}` a list after a
// comma. families/sections.py explains the notation.
//// declaration
#ifdef _WIN32
struct ${node} : public ${superclass} {
  TORCH_API ${node}() = default;
#else
struct TORCH_API ${node} : public ${superclass} {
#endif
  using ${superclass}::${superclass};
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "${node}"; }
  void release_variables() override {
    ${lock}
    ${releases}
  }
  ${will_release_variables}
//<2.7   void compiled_args(CompiledNodeArgs& args) override;
//>=2.7   void compiled_args(CompiledNodeArgs& args) const override;
  variable_list apply_with_saved(const variable_list& inputs, SwapSavedVariables& saved) override;
  ${fields}
  ${list_sizes}
};
//// will_release_variables
bool retain_variables = true;
void will_release_variables() override {
  retain_variables = false;
}
//// gradient_function, since 2.6
static variable_list ${node}_apply_functional(
  variable_list&& grads,
  std::array<bool,${inputs}> needs_input_grad${,parameters})
{
  IndexRangeGenerator gen;
  ${index_ranges}
  variable_list grad_inputs(gen.size());
  ${body}
  return grad_inputs;
}
//// ivalue_function, since 2.7
inline variable_list ${node}_apply_functional_ivalue(const variable_list& grads, const ivalue_list& args)
{
#ifdef C10_MOBILE
  TORCH_INTERNAL_ASSERT(false, "compiled autograd doesn't work on mobile");
#else
  auto packed_args = PackedArgs(args);
  auto needs_input_grad = packed_args.unpack<std::array<bool, ${inputs}>>();
  ${unpacked_ivalues}
  return ${node}_apply_functional(variable_list(grads), needs_input_grad${,arguments});
#endif
}
//// apply
variable_list ${node}::apply(variable_list&& grads) {
  ${lock}
  ${asserts}
  IndexRangeGenerator gen;
  ${index_ranges}
  variable_list grad_inputs(gen.size());
  ${body_with_unpacks}
  return grad_inputs;
}
//// apply, since 2.6

variable_list ${node}::apply(variable_list&& grads) {
  ${lock}
  ${asserts}
  ${unpacks}
  ${needs_input_grad}
  return ${node}_apply_functional(std::move(grads), needs_input_grad${,arguments});
}

//// compiled_args
//<2.7 void ${node}::compiled_args(CompiledNodeArgs& args) {
//>=2.7 void ${node}::compiled_args(CompiledNodeArgs& args) const {
    ${collected}
}
//// apply_with_saved
variable_list ${node}::apply_with_saved(const variable_list& grads, SwapSavedVariables& saved) {
    ${before}
    variable_list result = apply(variable_list(grads));
    ${after}
    return result;
}
//// apply_with_saved, since 2.7
variable_list ${node}::apply_with_saved(const variable_list& grads, SwapSavedVariables& saved) {
#ifdef C10_MOBILE
  TORCH_INTERNAL_ASSERT(false, "compiled autograd doesn't work on mobile");
#else
  ${before}

  static bool called = false;
  if (!called) {
    called = true;
    ${packed_types}
    const auto& pyinterface = torch::dynamo::autograd::getPyCompilerInterface();
    pyinterface->bind_function(saved.get_py_compiler(), name(), ${node}_apply_functional_ivalue, schema);
  }

  variable_list output_result;

  PackedArgs packed_args;
  ${asserts}
  ${unpacks}
  ${needs_input_grad}
  packed_args.pack(needs_input_grad);
  ${packed}

  output_result = compiled_autograd_apply_functional(packed_args, next_edges(), saved, grads, name());

  ${after}
  return output_result;
#endif
}

//// grad_input_mask
  auto grad_input_mask = std::array<bool, ${count}>{
    ${masks}
  };
//// needs_input_grad, since 2.6
IndexRangeGenerator gen;
${index_ranges}
auto needs_input_grad = std::array<bool, ${count}>{
  ${masks}
};
//// gradient
//<2.6 if (task_should_compute_output({ ${name}_ix })) {
//>=2.6 if (needs_input_grad[/*${name}*/${idx}]) {
  auto grad_result = ${formula};
  copy_range(grad_inputs, ${name}_ix, grad_result);
}
//// gradient_of_each
//<2.6 if (task_should_compute_output({ ${name}_ix })) {
//>=2.6 if (needs_input_grad[/*${name}*/${idx}]) {  // ${name}
  std::vector<Tensor> grad_result;
  grad_result.reserve(grads.size());
  for (const auto & i : c10::irange(grads.size())) {
    if (grads[i].defined()) {
      grad_result.emplace_back(${formula});
    } else {
      grad_result.emplace_back(Tensor());
    }
  }
  copy_range(grad_inputs, ${name}_ix, grad_result);
}
//// copy_gradient
//<2.6   if (task_should_compute_output({ ${name}_ix })) {
//>=2.6   if (needs_input_grad[/*${name}*/${idx}]) {
    copy_range(grad_inputs, ${name}_ix, std::get<${i}>(grad_result));
  }
//// gradients
//<2.6 if (task_should_compute_output({ ${condition} })) {
//>=2.6 if (${condition}) {
  ${grad_input_mask}
  auto grad_result = ${formula};
  ${copy_ranges}
}
