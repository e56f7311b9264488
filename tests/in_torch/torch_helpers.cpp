// What nearly all kernels of the whole of torch call, and libtorch keeps to itself.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/generated/VariableType.h>

namespace torch::autograd::VariableType {

const at::Tensor& unpack(const at::Tensor& t, const char* name, int position) {
  TORCH_CHECK(
      t.defined(),
      "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #",
      position,
      " '",
      name,
      "'");
  return t;
}

at::Tensor& unpack(at::Tensor& t, const char* name, int position) {
  unpack(static_cast<const at::Tensor&>(t), name, position);
  return t;
}

std::vector<at::Tensor> unpack(const at::ITensorListRef& list, const char* /*name*/, int /*position*/) {
  std::vector<at::Tensor> members;
  for (const at::Tensor& member : list) {
    members.push_back(member);
  }
  return members;
}

} // namespace torch::autograd::VariableType

namespace torch::autograd::generated::details {

namespace {

// The tangents of a list, zeros for a member that has none. Empty if none has one.
template <typename List>
std::vector<Tensor> tangents(const List& list) {
  std::vector<Tensor> found;
  bool any = false;
  for (const Tensor& t : list) {
    const Tensor tangent = toNonOptFwGrad(t);
    any = any || tangent.defined();
    found.push_back(tangent.defined() ? tangent : at::zeros_like(toNonOptPrimal(t)));
  }
  return any ? found : std::vector<Tensor>();
}

} // namespace

at::SymIntArrayRef strides_or_error(const Tensor& input, std::string_view const& /*name*/) {
  return input.layout() == at::kStrided ? input.sym_strides() : at::SymIntArrayRef();
}

Tensor cat_jvp(const at::ITensorListRef& list, int64_t dim) {
  const auto found = tangents(list);
  return found.empty() ? Tensor() : at::cat(found, dim);
}

Tensor stack_jvp(at::TensorList list, int64_t dim) {
  const auto found = tangents(list);
  return found.empty() ? Tensor() : at::stack(found, dim);
}

Tensor block_diag_jvp(at::TensorList list) {
  const auto found = tangents(list);
  return found.empty() ? Tensor() : at::block_diag(found);
}

} // namespace torch::autograd::generated::details
