// The C++ of the plumbing of one operator. families/sections.py explains the notation.
//// plumbing
template <typename batch_rule_t, batch_rule_t batch_rule>
${returns} ${struct}_generated_plumbing(${parameters}) {
  c10::impl::ExcludeDispatchKeyGuard guard(DispatchKey::FuncTorchBatched);
  auto maybe_layer = maybeCurrentDynamicLayer();
  vmap_check_escaped(maybe_layer, "${rule}");
  int64_t cur_level = maybe_layer->layerId();
  if (${unbatched}) {
    return at::_ops::${struct}::call(${arguments});
  }
  ${unwraps}
  ${call}
}
//// unwrap_tensor
//<2.5 Tensor ${name}_value;
//<2.5 optional<int64_t> ${name}_bdim;
//<2.5 std::tie(${name}_value, ${name}_bdim) = unwrapTensorAtLevel(${name}, cur_level);
//>=2.5 auto [${name}_value, ${name}_bdim] = unwrapTensorAtLevel(${name}, cur_level);
//// unwrap_optional
//<2.5 optional<Tensor> ${name}_value;
//<2.5 optional<int64_t> ${name}_bdim;
//>=2.5 std::optional<Tensor> ${name}_value;
//>=2.5 std::optional<int64_t> ${name}_bdim;
if (${name}) {
    std::tie(${name}_value, ${name}_bdim) = unwrapTensorAtLevel(${name}.value(), cur_level);
}
//// file

#pragma once
#include <ATen/Operators.h>
#include <ATen/functorch/PlumbingHelper.h>

namespace at { namespace functorch {

${plumbing}

}} // namespace at::functorch
