#pragma once

// The functions that formulas of toy_derivatives.yaml call, besides PyTorch's operators.

#include <ATen/ATen.h>

namespace toy::autograd {

// Of x * tanh(softplus(x)).
inline at::Tensor mish_gradient(const at::Tensor& grad, const at::Tensor& self) {
  const at::Tensor inner = at::tanh(at::softplus(self));
  return grad * (inner + self * (1 - inner * inner) * at::sigmoid(self));
}

// The gradient of a row: zeros around it.
inline at::Tensor row_gradient(const at::Tensor& grad, c10::SymIntArrayRef sizes, int64_t index) {
  return at::select_backward_symint(grad, sizes, 0, index);
}

// The gradient of a gated value. `mask` and `shape` are hidden outputs of the kernel.
inline at::Tensor gated_gradient(const at::Tensor& grad, const at::Tensor& mask, at::IntArrayRef shape) {
  return (grad * mask).reshape(shape);
}

// The gradient of a shifted value: a complex shift of a real one gives a complex result.
inline at::Tensor shifted_gradient(const at::Tensor& grad, at::ScalarType type) {
  return grad.is_complex() && !at::isComplexType(type) ? at::real(grad) : grad;
}

} // namespace toy::autograd
