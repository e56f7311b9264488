#pragma once

// ${generated_comment}

// How each view of the toy backend is made again from another base.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/variable.h>
${ops_headers}

namespace torch::autograd::generated {

using at::Tensor;

${view_func_declarations}

} // namespace torch::autograd::generated
