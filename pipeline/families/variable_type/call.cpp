// The C++ of the call that an autograd kernel makes, and of the checks of debug builds around it. kernel.cpp explains the
// notation.
//// call, since 2.4
{
  ${guard}
  ${call};
}
//// call_for_results, since 2.4
auto _tmp = ([&]() {
  ${guard}
  return ${call};
})();
auto ${results} = ${value};
//// call_or_decompose, since 2.4
auto _tmp = ([&]() {
  if (${condition}) {
    static c10::OperatorName full_name("aten::${operator}", "${overload}");
    static c10::optional<c10::OperatorHandle> opt_op = c10::Dispatcher::singleton().findSchema(full_name);
    return impl::run_jit_decomposition_with_args_for_jvp<${returns}>("${operator}", *opt_op, ks, ${arguments});
  } else {
    ${guard}
    return ${call};
  }
})();
auto ${results} = ${value};
//// call_or_decompose, since 2.5
auto _tmp = ([&]() {
  if (${condition}) {
    static c10::OperatorName full_name("aten::${operator}", "${overload}");
    static ::std::optional<c10::OperatorHandle> opt_op = c10::Dispatcher::singleton().findSchema(full_name);
    return impl::run_jit_decomposition_with_args_for_jvp<${returns}>("${operator}", *opt_op, ks, ${arguments});
  } else {
    ${guard}
    return ${call};
  }
})();
auto ${results} = ${value};
//// call_not_decomposed, since 2.4
auto _tmp = ([&]() {
  ${guard}
    return ${call};
})();
auto ${results} = ${value};
//// debug_only, since 2.4
#ifndef NDEBUG
${statements}
#endif
//// before_tensor, since 2.4
c10::optional<Storage> ${name}_storage_saved =
  ${name}.has_storage() ? c10::optional<Storage>(${name}.storage()) : c10::nullopt;
c10::intrusive_ptr<TensorImpl> ${name}_impl_saved;
if (${name}.defined()) ${name}_impl_saved = ${name}.getIntrusivePtr();
//// before_tensor, since 2.5
auto ${name}_storage_saved =
  ${name}.has_storage() ? ::std::optional<Storage>(${name}.storage()) : ::std::nullopt;
c10::intrusive_ptr<TensorImpl> ${name}_impl_saved;
if (${name}.defined()) ${name}_impl_saved = ${name}.getIntrusivePtr();
//// same_storage, since 2.4
if (${name}_storage_saved.has_value() &&
    !at::impl::dispatch_mode_enabled() &&
    !at::impl::tensor_has_dispatch(${name}) &&
    !at::impl::tensor_has_dispatch(${other}))
  TORCH_INTERNAL_ASSERT(${name}_storage_saved.value().is_alias_of(${other}.storage()));
//// after_tensor, since 2.4
if (${name}_storage_saved.has_value() &&
    !at::impl::dispatch_mode_enabled() &&
    !at::impl::tensor_has_dispatch(${name}) &&
    !at::impl::tensor_has_dispatch(${name}))
  TORCH_INTERNAL_ASSERT(${name}_storage_saved.value().is_alias_of(${name}.storage()));
if (${name}_impl_saved && !at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch(${name}))
  TORCH_INTERNAL_ASSERT(${name}_impl_saved == ${name}.getIntrusivePtr());
//// before_list, since 2.4
std::vector<c10::optional<Storage>> ${name}_storage_saved(${name}.size());
for (const Tensor& tensor : ${name})
  ${name}_storage_saved.push_back(
    tensor.has_storage() ? c10::optional<Storage>(tensor.storage()) : c10::nullopt);
std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved(${name}.size());
for (size_t i=0; i<${name}.size(); i++)
  if (${name}[i].defined()) ${name}_impl_saved[i] = ${name}[i].getIntrusivePtr();
//// before_list, since 2.5
std::vector<::std::optional<Storage>> ${name}_storage_saved(${name}.size());
for (const Tensor& tensor : ${name})
  ${name}_storage_saved.push_back(
    tensor.has_storage() ? ::std::optional<Storage>(tensor.storage()) : ::std::nullopt);
std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved(${name}.size());
for (size_t i=0; i<${name}.size(); i++)
  if (${name}[i].defined()) ${name}_impl_saved[i] = ${name}[i].getIntrusivePtr();
//// before_list, since 2.15
std::vector<::std::optional<Storage>> ${name}_storage_saved;
${name}_storage_saved.reserve(${name}.size());
for (const Tensor& tensor : ${name})
  ${name}_storage_saved.emplace_back(
    tensor.has_storage() ? ::std::optional<Storage>(tensor.storage()) : ::std::nullopt);
std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved(${name}.size());
for (size_t i=0; i<${name}.size(); i++)
  if (${name}[i].defined()) ${name}_impl_saved[i] = ${name}[i].getIntrusivePtr();
//// after_list, since 2.4
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch(${name}))
    TORCH_INTERNAL_ASSERT(${name}_storage_saved[i].value().is_alias_of(${name}[i].storage()));
}
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_impl_saved[i] && !at::impl::tensorlist_has_dispatch(${name}))
    TORCH_INTERNAL_ASSERT(${name}_impl_saved[i] == ${name}[i].getIntrusivePtr());
}
//// before_optional_list, since 2.4
std::vector<c10::optional<Storage>> ${name}_storage_saved(${name}.size());
for (const c10::optional<Tensor>& tensor : ${name})
  ${name}_storage_saved.push_back(
    tensor.has_value() && tensor->has_storage() ? c10::optional<Storage>(tensor->storage()) : c10::nullopt);
std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved(${name}.size());
for (size_t i=0; i<${name}.size(); i++) {
  c10::optional<Tensor> t = ${name}[i];
  if (t.has_value() && t->defined()) ${name}_impl_saved[i] = t->getIntrusivePtr();
}
//// before_optional_list, since 2.5
std::vector<::std::optional<Storage>> ${name}_storage_saved(${name}.size());
for (const ::std::optional<Tensor>& tensor : ${name})
  ${name}_storage_saved.push_back(
    tensor.has_value() && tensor->has_storage() ? ::std::optional<Storage>(tensor->storage()) : ::std::nullopt);
std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved(${name}.size());
for (size_t i=0; i<${name}.size(); i++) {
  ::std::optional<Tensor> t = ${name}[i];
  if (t.has_value() && t->defined()) ${name}_impl_saved[i] = t->getIntrusivePtr();
}
//// before_optional_list, since 2.15
std::vector<::std::optional<Storage>> ${name}_storage_saved;
${name}_storage_saved.reserve(${name}.size());
for (const ::std::optional<Tensor>& tensor : ${name})
  ${name}_storage_saved.emplace_back(
    tensor.has_value() && tensor->has_storage() ? ::std::optional<Storage>(tensor->storage()) : ::std::nullopt);
std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved(${name}.size());
for (size_t i=0; i<${name}.size(); i++) {
  ::std::optional<Tensor> t = ${name}[i];
  if (t.has_value() && t->defined()) ${name}_impl_saved[i] = t->getIntrusivePtr();
}
//// after_optional_list, since 2.4
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch(${name}))
    TORCH_INTERNAL_ASSERT(${name}_storage_saved[i].value().is_alias_of(
        static_cast<c10::optional<Tensor>>(${name}[i])->storage()));
}
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_impl_saved[i])
    TORCH_INTERNAL_ASSERT(
      ${name}_impl_saved[i] == static_cast<c10::optional<Tensor>>(${name}[i])->getIntrusivePtr());
}
//// after_optional_list, since 2.5
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch(${name}))
    TORCH_INTERNAL_ASSERT(${name}_storage_saved[i].value().is_alias_of(
        static_cast<::std::optional<Tensor>>(${name}[i])->storage()));
}
for (size_t i=0; i<${name}.size() && !at::impl::dispatch_mode_enabled(); i++) {
  if (${name}_impl_saved[i])
    TORCH_INTERNAL_ASSERT(
      ${name}_impl_saved[i] == static_cast<::std::optional<Tensor>>(${name}[i])->getIntrusivePtr());
}
//// own_storage, since 2.4
if (${name}.has_storage() && !at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch(${name})) {
  TORCH_INTERNAL_ASSERT(${name}.storage().use_count() == 1, "function: ${kernel}");
}
//// own_tensor, since 2.4
if (!at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch(${name}))
  TORCH_INTERNAL_ASSERT(${name}.use_count() <= 1, "function: ${kernel}");
//// own_tensor, since 2.10
if (!at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch(${name}))
  TORCH_INTERNAL_ASSERT(${name}.use_count() == expected_fresh_use_count(${name}), "function: ${kernel}");
