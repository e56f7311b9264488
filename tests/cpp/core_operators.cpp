// The operators of the core spec set that ATen does not have: their schemas, and kernels that compute.

#include <ATen/ATen.h>
#include <torch/library.h>

namespace gradmill::test {

namespace {

at::Tensor cube(const at::Tensor& self) {
  return self * self * self;
}

at::Tensor& cube_out(const at::Tensor& self, at::Tensor& out) {
  return out.copy_(cube(self));
}

at::Tensor scale(const at::Tensor& self, double factor) {
  return self * factor;
}

at::Tensor& scale_(at::Tensor& self, double factor) {
  return self.mul_(factor);
}

std::vector<at::Tensor> weighted_norms(
    at::TensorList tensors,
    at::ArrayRef<double> weights,
    std::optional<int64_t> ord,
    bool squared) {
  std::vector<at::Tensor> norms;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor norm = tensors[i].norm(ord.value_or(2)) * weights[i];
    norms.push_back(squared ? norm * norm : norm);
  }
  return norms;
}

at::Tensor& upsample_out(
    const at::Tensor& input,
    at::OptionalIntArrayRef output_size,
    std::optional<at::ArrayRef<double>> scale_factors,
    at::Tensor& out) {
  return out.copy_(at::upsample_nearest1d(input, output_size, scale_factors));
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("cube(Tensor self) -> Tensor");
  m.def("cube.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("scale(Tensor self, float factor=2.0) -> Tensor");
  m.def("scale_(Tensor(a!) self, float factor) -> Tensor(a!)");
  m.def("weighted_norms(Tensor[] tensors, float[] weights, int? ord=None, bool squared=True) -> Tensor[]");
  m.def(
      "upsample_nearest1d.vec_out(Tensor input, SymInt[]? output_size, float[]? scale_factors, *, Tensor(a!) out) "
      "-> Tensor(a!)");
}

TORCH_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("cube", TORCH_FN(cube));
  m.impl("cube.out", TORCH_FN(cube_out));
  m.impl("scale", TORCH_FN(scale));
  m.impl("scale_", TORCH_FN(scale_));
  m.impl("weighted_norms", TORCH_FN(weighted_norms));
  m.impl("upsample_nearest1d.vec_out", TORCH_FN(upsample_out));
}

} // namespace gradmill::test
