#include "ViewFuncs.h"

#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/library.h>

#include "toy_kernels.h"
${ops_headers}

// ${generated_comment}

// The kernels that count versions, and that tell autograd what is a view of what.

namespace toy::autograd {

namespace ADInplaceOrView {

using c10::InferenceMode;
using torch::autograd::as_view;
using torch::autograd::CreationMeta;
using torch::autograd::increment_version;

namespace {

${inplace_or_view_method_definitions}

} // namespace

} // namespace ADInplaceOrView

namespace {

TORCH_LIBRARY_IMPL(toy, ADInplaceOrView, m) {
  ${inplace_or_view_wrapper_registrations};
}

} // namespace

} // namespace toy::autograd
