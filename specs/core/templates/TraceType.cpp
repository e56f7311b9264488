#include <ATen/quantized/Quantizer.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/library.h>

#include "core_operators.h"

// ${generated_comment}

// The kernels that write down which operators ran.

// The operators that are called below: all at once, or each from its own header.
#ifndef AT_PER_OPERATOR_HEADERS
#include <ATen/Operators.h>
#else
${ops_headers}
#endif

namespace gradmill::core {

// The names that the kernels below use without a namespace. Not inside theirs, where operators have the same ones.
namespace jit = torch::jit;
using namespace at;

namespace TraceType {

namespace {

// What the generated text of an operator with a work buffer asks for by this name, and does not declare.
[[maybe_unused]] constexpr bool force_outplace = false;

${trace_method_definitions}

} // namespace

} // namespace TraceType

namespace {

TORCH_LIBRARY_IMPL(aten, Tracer, m) {
  ${trace_wrapper_registrations};
}

} // namespace

} // namespace gradmill::core
