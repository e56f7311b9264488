#include <ATen/RedispatchFunctions.h>
#include <ATen/core/TorchDispatchUtils.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include "Functions.h"
#include "toy_kernels.h"

// ${generated_comment}

// The kernels that record what backward needs, and that compute tangents.

namespace toy::autograd {

namespace VariableType {

namespace impl = torch::autograd::impl;
using namespace torch::autograd;
using at::Storage;
using at::TensorImpl;
using torch::autograd::generated::details::toNonOptFwGrad;
using torch::autograd::generated::details::toNonOptPrimal;
using torch::autograd::generated::details::toNonOptTensor;
using torch::autograd::generated::details::update_wrapped_number;

namespace {

${definitions}

} // namespace

} // namespace VariableType

namespace {

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  ${overridden}
}

TORCH_LIBRARY_IMPL(toy, AutogradPrivateUse1, m) {
  ${own}
}

} // namespace

} // namespace toy::autograd
