#include "VariableType.h"

#include <ATen/RedispatchFunctions.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/core/TorchDispatchUtils.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include "Functions.h"
#include "core_helpers.h"
#include "core_operators.h"

// ${generated_comment}

// The kernels that record what backward needs, and that compute tangents.

namespace gradmill::core {

namespace VariableType {

// The names that the kernels below use without a namespace.
namespace impl = torch::autograd::impl;
using namespace torch::autograd;
using at::Storage;
using at::TensorImpl;
using torch::autograd::generated::details::apply_loss_reduction;
using torch::autograd::generated::details::toNonOptFwGrad;
using torch::autograd::generated::details::toNonOptPrimal;
using torch::autograd::generated::details::toNonOptTensor;
using torch::autograd::generated::details::update_wrapped_number;

namespace {

// A leaf whose storage was replaced has another place for its gradient.
[[maybe_unused]] void reset_grad_accumulator(at::Tensor& t) {
  if (auto* meta = impl::get_autograd_meta(t)) {
    meta->grad_accumulator_.reset();
  }
}

// How many owners a result has that nobody else can know of yet.
[[maybe_unused]] size_t expected_fresh_use_count(const at::Tensor& t) {
  if (!t.defined()) {
    return 0;
  }
  const bool known_to_python = t.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj() != nullptr;
  return known_to_python ? 2 : 1;
}

${type_derived_method_definitions}

} // namespace

} // namespace VariableType

namespace {

${wrapper_registrations}

} // namespace

} // namespace gradmill::core
