// The toy backend's operators: their schemas, and their kernels for the device.

#include <torch/library.h>

#include "toy_kernels.h"

namespace toy {

namespace {

at::Tensor cube(const at::Tensor& self) {
  return self * self * self;
}

at::Tensor& cube_(at::Tensor& self) {
  return self.copy_(self * self * self);
}

at::Tensor& cube_out(const at::Tensor& self, at::Tensor& out) {
  return out.resize_(self.sizes()).copy_(self * self * self);
}

at::Tensor row(const at::Tensor& self, int64_t index) {
  return self.select(0, index);
}

std::vector<at::Tensor> foreach_cube(at::TensorList self) {
  std::vector<at::Tensor> found;
  for (const at::Tensor& member : self) {
    found.push_back(cube(member));
  }
  return found;
}

// The operator `gated` has one result. Its gradient needs the two other values.
std::tuple<at::Tensor, at::Tensor, std::vector<int64_t>> gated_with_mask(const at::Tensor& self, double limit) {
  at::Tensor mask = self.abs().le(limit).to(self.scalar_type());
  return {self * mask, mask, self.sizes().vec()};
}

at::Tensor gated(const at::Tensor& self, double limit) {
  return std::get<0>(gated_with_mask(self, limit));
}

at::Tensor shifted(const at::Tensor& self, const at::Scalar& by) {
  return self + by;
}

TORCH_LIBRARY(toy, m) {
  m.def("cube(Tensor self) -> Tensor");
  m.def("cube_(Tensor(a!) self) -> Tensor(a!)");
  m.def("cube.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("row(Tensor(a) self, int index) -> Tensor(a)");
  m.def("_foreach_cube(Tensor[] self) -> Tensor[]");
  m.def("gated(Tensor self, float limit) -> Tensor");
  m.def("_gated_with_mask(Tensor self, float limit) -> (Tensor, Tensor, int[])");
  m.def("shifted(Tensor self, Scalar by) -> Tensor");
}

TORCH_LIBRARY_IMPL(toy, PrivateUse1, m) {
  m.impl("cube", cube);
  m.impl("cube_", cube_);
  m.impl("cube.out", cube_out);
  m.impl("row", row);
  m.impl("_foreach_cube", foreach_cube);
  m.impl("gated", gated);
  m.impl("_gated_with_mask", gated_with_mask);
  m.impl("shifted", shifted);
}

} // namespace

} // namespace toy
