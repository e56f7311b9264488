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

${type_derived_method_definitions}

} // namespace

} // namespace VariableType

namespace {

${wrapper_registrations}

} // namespace

} // namespace gradmill::core
