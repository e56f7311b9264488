// The C++ of one kernel for in-place functions, out variants and views. families/sections.py explains the notation.
//// include
#include <${header}>
//// definition
${returns} ${kernel}(${parameters}) {
  ${body}
}
//// registration
m.impl("${operator}",
       TORCH_FN(ADInplaceOrView::${kernel})
);
//// modify
{
  at::AutoDispatchBelowADInplaceOrView guard;
  at::_ops::${struct}::redispatch(${arguments});
}
//// increment_version
increment_version(${name});
//// call
auto _tmp = ([&]() {
  at::AutoDispatchBelowADInplaceOrView guard;
  return at::_ops::${struct}::redispatch(${arguments});
})();
//// not_differentiable
${results} = as_view(${base}, _tmp, /* is_bw_differentiable */ false, /* is_fw_differentiable */ false);
//// one_view
${replay}
${results} = as_view(/* base */ ${base}, /* output */ _tmp, /* is_bw_differentiable */ true, /* is_fw_differentiable */ true, /* view_func */ std::move(func), /* rev_view_func */ rev_func, /* creation_meta */ InferenceMode::is_enabled() ? CreationMeta::INFERENCE_MODE : (at::GradMode::is_enabled() ? CreationMeta::DEFAULT : CreationMeta::NO_GRAD_MODE));
//// list_of_views
for (auto view_idx : c10::irange(_tmp.size())) {
  ${replay}
  as_view(/* base */ ${base}, /* output */ _tmp[view_idx], /* is_bw_differentiable */ true, /* is_fw_differentiable */ true, /* view_func */ std::move(func), /* rev_view_func */ rev_func, /* creation_meta */ InferenceMode::is_enabled() ? CreationMeta::INFERENCE_MODE : (at::GradMode::is_enabled() ? CreationMeta::MULTI_OUTPUT_NODE : CreationMeta::NO_GRAD_MODE));
}
${results} = std::move(_tmp);
//// replay
std::unique_ptr<torch::autograd::ViewFunc> func(nullptr);
std::function<at::Tensor(const at::Tensor&)> rev_func=nullptr;
if (${always} ||
    !self.unsafeGetTensorImpl()->support_as_strided() ||
    self.unsafeGetTensorImpl()->is_python_dispatch() ||
    c10::AutogradState::get_tls_state().get_view_replay_enabled()) {
  ${view_func}
  rev_func = [=](const at::Tensor& input_view) {
    return at::functionalization::FunctionalInverses::${struct}_inverse(self, input_view, at::functionalization::InverseReturnMode::AlwaysView${,captured});
  };
}
//// view_func
func = std::make_unique<torch::autograd::generated::${view_func}>(${arguments});
//// copy_of_list
auto ${name}_vec = ${name}.vec();
//// copy_of_optional
auto ${name}_val = ${name}.value_or(0);
