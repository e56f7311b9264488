#pragma once

// ${generated_comment}

// How each view of the core spec set is made again from another base.

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>
#include <torch/csrc/autograd/variable.h>

// The operators that make the views: all at once, or each from its own header.
#ifndef AT_PER_OPERATOR_HEADERS
#include <ATen/Operators.h>
#else
${ops_headers}
#endif

// Where the kernels look for these classes.
namespace torch::autograd::generated {

using at::Tensor;

${view_func_declarations}

} // namespace torch::autograd::generated
