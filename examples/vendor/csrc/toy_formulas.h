#pragma once

// The functions that formulas of toy_derivatives.yaml call, besides PyTorch's operators.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>

namespace toy::autograd {

// The tensors behind a list of saved variables.
inline std::vector<at::Tensor> unpack_list(
    at::ArrayRef<torch::autograd::SavedVariable> saved,
    c10::intrusive_ptr<torch::autograd::Node> saved_for = nullptr) {
  std::vector<at::Tensor> tensors;
  for (const torch::autograd::SavedVariable& one : saved) {
    tensors.push_back(one.unpack(saved_for));
  }
  return tensors;
}

// Of x * tanh(softplus(x)).
inline at::Tensor mish_gradient(const at::Tensor& grad, const at::Tensor& self) {
  const at::Tensor inner = at::tanh(at::softplus(self));
  return grad * (inner + self * (1 - inner * inner) * at::sigmoid(self));
}

// The gradient of a row: zeros around it.
inline at::Tensor row_gradient(const at::Tensor& grad, c10::SymIntArrayRef sizes, int64_t index) {
  return at::select_backward_symint(grad, sizes, 0, index);
}

// The gradient of a gated value.
inline at::Tensor gated_gradient(const at::Tensor& grad, const at::Tensor& mask) {
  return (grad * mask);
}

// The gradient of a shifted value: a complex shift of a real one gives a complex result.
inline at::Tensor shifted_gradient(const at::Tensor& grad, at::ScalarType type) {
  return grad.is_complex() && !at::isComplexType(type) ? at::real(grad) : grad;
}

} // namespace toy::autograd
