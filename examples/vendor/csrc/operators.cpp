// The toy backend's operators: their schemas, and their kernels for the device. Below, kernels of PyTorch's operators.

#include <ATen/Dispatch.h>
#include <torch/library.h>

#include "PrivateUse1NativeFunctions.h"
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

// The gradient needs the mask.
std::tuple<at::Tensor, at::Tensor> gated(const at::Tensor& self, double limit) {
  at::Tensor mask = self.abs().lt(limit).to(self.scalar_type());
  return {self * mask, mask};
}

at::Tensor shifted(const at::Tensor& self, const at::Scalar& by) {
  return self + by;
}

at::Tensor squared_error(const at::Tensor& self, const at::Tensor& target) {
  return (self - target).pow(2).mean();
}

TORCH_LIBRARY(toy, m) {
  m.def("cube(Tensor self) -> Tensor");
  m.def("cube_(Tensor(a!) self) -> Tensor(a!)");
  m.def("cube.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("row(Tensor(a) self, int index) -> Tensor(a)");
  m.def("_foreach_cube(Tensor[] self) -> Tensor[]");
  m.def("gated(Tensor self, float limit) -> (Tensor, Tensor)");
  m.def("shifted(Tensor self, Scalar by) -> Tensor");
  m.def("squared_error(Tensor self, Tensor target) -> Tensor");
}

TORCH_LIBRARY_IMPL(toy, CompositeImplicitAutograd, m) {
  m.impl("squared_error", squared_error);
}

TORCH_LIBRARY_IMPL(toy, PrivateUse1, m) {
  m.impl("cube", cube);
  m.impl("cube_", cube_);
  m.impl("cube.out", cube_out);
  m.impl("row", row);
  m.impl("_foreach_cube", foreach_cube);
  m.impl("gated", gated);
  m.impl("shifted", shifted);
}

} // namespace

// PyTorch's meta function has checked the arguments, and `out` has the size and type that it computed.
void PrivateUse1NativeFunctions::structured_mm_out::impl(
    const at::Tensor& self,
    const at::Tensor& mat2,
    const at::Tensor& out) {
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX(out.scalar_type(), "mm", [&] {
    const auto left = self.accessor<scalar_t, 2>(), right = mat2.accessor<scalar_t, 2>();
    auto result = out.accessor<scalar_t, 2>();
    for (int64_t i = 0; i < out.size(0); ++i) {
      for (int64_t j = 0; j < out.size(1); ++j) {
        scalar_t sum = 0;
        for (int64_t k = 0; k < self.size(1); ++k) {
          sum += left[i][k] * right[k][j];
        }
        result[i][j] = sum;
      }
    }
  });
}

at::Tensor PrivateUse1NativeFunctions::relu(const at::Tensor& self) {
  return self.clamp_min(0);
}

} // namespace toy
