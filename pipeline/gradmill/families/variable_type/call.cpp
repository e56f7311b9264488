// The C++ of the call that an autograd kernel makes, and of the checks of debug builds around it. families/sections.py
// explains the notation.
//// call
{
  ${guard}
  ${call};
}
//// call_for_results
auto _tmp = ([&]() {
  ${guard}
  return ${call};
})();
auto ${results} = ${value};
//// call_or_decompose
auto _tmp = ([&]() {
  if (${condition}) {
    static c10::OperatorName full_name("aten::${operator}", "${overload}");
//<2.5     static c10::optional<c10::OperatorHandle> opt_op = c10::Dispatcher::singleton().findSchema(full_name);
//>=2.5     static ::std::optional<c10::OperatorHandle> opt_op = c10::Dispatcher::singleton().findSchema(full_name);
    return impl::run_jit_decomposition_with_args_for_jvp<${returns}>("${operator}", *opt_op, ks, ${arguments});
  } else {
    ${guard}
    return ${call};
  }
})();
auto ${results} = ${value};
//// call_not_decomposed
auto _tmp = ([&]() {
  ${guard}
    return ${call};
})();
auto ${results} = ${value};
//// debug_only
#ifndef NDEBUG
${statements}
#endif
//// before_tensor
//<2.5 c10::optional<Storage> ${name}_storage_saved =
//<2.5   ${name}.has_storage() ? c10::optional<Storage>(${name}.storage()) : c10::nullopt;
//>=2.5 auto ${name}_storage_saved =
//>=2.5   ${name}.has_storage() ? ::std::optional<Storage>(${name}.storage()) : ::std::nullopt;
c10::intrusive_ptr<TensorImpl> ${name}_impl_saved;
if (${name}.defined()) ${name}_impl_saved = ${name}.getIntrusivePtr();
//// same_storage
if (${name}_storage_saved.has_value() &&
    !at::impl::dispatch_mode_enabled() &&
    !at::impl::tensor_has_dispatch(${name}) &&
    !at::impl::tensor_has_dispatch(${other}))
  TORCH_INTERNAL_ASSERT(${name}_storage_saved.value().is_alias_of(${other}.storage()));
//// after_tensor
if (${name}_storage_saved.has_value() &&
    !at::impl::dispatch_mode_enabled() &&
    !at::impl::tensor_has_dispatch(${name}) &&
    !at::impl::tensor_has_dispatch(${name}))
  TORCH_INTERNAL_ASSERT(${name}_storage_saved.value().is_alias_of(${name}.storage()));
if (${name}_impl_saved && !at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch(${name}))
  TORCH_INTERNAL_ASSERT(${name}_impl_saved == ${name}.getIntrusivePtr());
//// before_list
//<2.5 std::vector<c10::optional<Storage>> ${name}_storage_saved(${name}.size());
//>=2.5<2.15 std::vector<::std::optional<Storage>> ${name}_storage_saved(${name}.size());
//>=2.15 std::vector<::std::optional<Storage>> ${name}_storage_saved;
//>=2.15 ${name}_storage_saved.reserve(${name}.size());
for (const Tensor& tensor : ${name})
//<2.15   ${name}_storage_saved.push_back(
//>=2.15   ${name}_storage_saved.emplace_back(
//<2.5     tensor.has_storage() ? c10::optional<Storage>(tensor.storage()) : c10::nullopt);
//>=2.5     tensor.has_storage() ? ::std::optional<Storage>(tensor.storage()) : ::std::nullopt);
std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved(${name}.size());
for (size_t i=0; i<${name}.size(); i++)
  if (${name}[i].defined()) ${name}_impl_saved[i] = ${name}[i].getIntrusivePtr();
//// after_list
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch(${name}))
    TORCH_INTERNAL_ASSERT(${name}_storage_saved[i].value().is_alias_of(${name}[i].storage()));
}
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_impl_saved[i] && !at::impl::tensorlist_has_dispatch(${name}))
    TORCH_INTERNAL_ASSERT(${name}_impl_saved[i] == ${name}[i].getIntrusivePtr());
}
//// before_optional_list
//<2.5 std::vector<c10::optional<Storage>> ${name}_storage_saved(${name}.size());
//<2.5 for (const c10::optional<Tensor>& tensor : ${name})
//>=2.5<2.15 std::vector<::std::optional<Storage>> ${name}_storage_saved(${name}.size());
//>=2.15 std::vector<::std::optional<Storage>> ${name}_storage_saved;
//>=2.15 ${name}_storage_saved.reserve(${name}.size());
//>=2.5 for (const ::std::optional<Tensor>& tensor : ${name})
//<2.15   ${name}_storage_saved.push_back(
//>=2.15   ${name}_storage_saved.emplace_back(
//<2.5     tensor.has_value() && tensor->has_storage() ? c10::optional<Storage>(tensor->storage()) : c10::nullopt);
//>=2.5     tensor.has_value() && tensor->has_storage() ? ::std::optional<Storage>(tensor->storage()) : ::std::nullopt);
std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved(${name}.size());
for (size_t i=0; i<${name}.size(); i++) {
//<2.5   c10::optional<Tensor> t = ${name}[i];
//>=2.5   ::std::optional<Tensor> t = ${name}[i];
  if (t.has_value() && t->defined()) ${name}_impl_saved[i] = t->getIntrusivePtr();
}
//// after_optional_list
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch(${name}))
    TORCH_INTERNAL_ASSERT(${name}_storage_saved[i].value().is_alias_of(
//<2.5         static_cast<c10::optional<Tensor>>(${name}[i])->storage()));
//>=2.5         static_cast<::std::optional<Tensor>>(${name}[i])->storage()));
}
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_impl_saved[i])
    TORCH_INTERNAL_ASSERT(
//<2.5       ${name}_impl_saved[i] == static_cast<c10::optional<Tensor>>(${name}[i])->getIntrusivePtr());
//>=2.5       ${name}_impl_saved[i] == static_cast<::std::optional<Tensor>>(${name}[i])->getIntrusivePtr());
}
//// own_storage
if (${name}.has_storage() && !at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch(${name})) {
  TORCH_INTERNAL_ASSERT(${name}.storage().use_count() == 1, "function: ${kernel}");
}
//// own_tensor
if (!at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch(${name}))
//<2.10   TORCH_INTERNAL_ASSERT(${name}.use_count() <= 1, "function: ${kernel}");
//>=2.10   TORCH_INTERNAL_ASSERT(${name}.use_count() == expected_fresh_use_count(${name}), "function: ${kernel}");
