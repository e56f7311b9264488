//// include, since 2.9
#include <ATen/ops/${base}_native.h>
#include <ATen/ops/${base}_ops.h>
//// declaration, since 2.9

struct TORCH_API ${name} : public ViewMeta {
  FUNCTIONALIZATION_VIEWMETA_NAME(${name})
  FUNCTIONALIZATION_VIEWMETA_SERIALIZABLE_TUPLE(
      ${tuple_types});

  ${name}(const SerializableTuple& tpl)
      : ${name}(${elements}) {}

  ${name}(${parameters})
      : at::functionalization::ViewMeta(has_symbolic_inputs, /*is_multi_output=*/${is_multi_output}, /*is_as_strided=*/${is_as_strided}, /*out_index=*/${out_index}),
        ${initializers} {}

  Tensor forward(const Tensor& base) override;
  Tensor reverse(const Tensor& base, const Tensor& mutated_view) override;
  ${to_out_index}

  SerializableTuple to_serializable_tuple() {
    return std::make_tuple(${names});
  }

  ${members}
};
//// to_out_index, since 2.9
std::shared_ptr<ViewMeta> to_out_index(int64_t out_idx) override;
//// forward, since 2.9

at::Tensor ${name}::forward(const at::Tensor& base) {
  if (reapply_views) {
    ${view}
  } else {
    ${copy}
  }
}
//// reverse, since 2.9

at::Tensor ${name}::reverse(const at::Tensor& base, const Tensor& mutated_view) {
  return at::functionalization::FunctionalInverses::${struct}_inverse(${reverse_arguments});
}
//// to_single_output, since 2.9

std::shared_ptr<at::functionalization::ViewMeta> ${name}::to_out_index(int64_t out_index) {
  return std::make_shared<at::functionalization::${name}>(${names});
}
//// replay, since 2.9
return at::_ops::${struct}::call(${arguments})${index};
//// replay_split_Tensor, since 2.15
// split() chunk `i` is base[i * split_size : (i + 1) * split_size] along dim,
// and slice clamps the end, which gives the short final chunk for free.
auto start = split_size * out_index;
return at::_ops::${slice}::call(base, dim, start, start + split_size, 1);
//// replay_split_with_sizes, since 2.15
c10::SymInt start = 0;
for (int64_t i = 0; i < out_index; ++i) {
  start += split_sizes[i];
}
return at::_ops::${slice}::call(base, dim, start, start + split_sizes[out_index], 1);
//// replay_unbind_int, since 2.15
return at::_ops::${select}::call(base, dim, out_index);
