#include "ViewFuncs.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/library.h>

#include "core_inverses.h"
#include "core_operators.h"

// ${generated_comment}

// The kernels that count versions, and that tell autograd what is a view of what.

// The operators that are called below: all at once, or each from its own header.
#ifndef AT_PER_OPERATOR_HEADERS
#include <ATen/Operators.h>
#else
${ops_headers}
#endif

namespace gradmill::core {

namespace ADInplaceOrView {

// The names that the kernels below use without a namespace.
using c10::InferenceMode;
using torch::autograd::as_view;
using torch::autograd::CreationMeta;
using torch::autograd::increment_version;

namespace {

${inplace_or_view_method_definitions}

} // namespace

} // namespace ADInplaceOrView

namespace {

TORCH_LIBRARY_IMPL(aten, ADInplaceOrView, m) {
  ${inplace_or_view_wrapper_registrations};
}

} // namespace

} // namespace gradmill::core
