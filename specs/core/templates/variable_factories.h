#pragma once

// ${generated_comment}

// The functions of the core spec set that make a tensor: theirs can ask for a gradient.

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/TensorOptions.h>
#include <torch/csrc/autograd/variable.h>

// The operators that are called below, each from its own header.
${ops_headers}

namespace gradmill::core {

// The generated text names these by short names.
namespace autograd = torch::autograd;
using at::MemoryFormat;

${function_definitions}

} // namespace gradmill::core
