#pragma once

// ${generated_comment}

// The autograd Nodes of the toy backend.

#include <ATen/ATen.h>
#include <ATen/TensorGeometry.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd::generated {
using torch::autograd::TypeAndSize;
}

namespace toy::autograd {

using at::Scalar;
using at::Tensor;
using at::TensorList;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::TraceableFunction;
using torch::autograd::variable_list;
using torch::dynamo::autograd::CompiledNodeArgs;
using torch::dynamo::autograd::SwapSavedVariables;

${autograd_function_declarations}

} // namespace toy::autograd
