#pragma once

// What the formulas of derivatives.yaml use without a namespace, for the backward functions of graphs.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>

#include "core_helpers.h"

namespace torch::autograd::generated {
using torch::autograd::TypeAndSize;
}

namespace gradmill::formulas {

using namespace gradmill::core;

using at::ArrayRef;
using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::TensorGeometry;
using at::TensorList;
using torch::autograd::variable_list;
using torch::autograd::generated::details::any_variable_defined;
using torch::autograd::generated::details::apply_loss_reduction;
using torch::autograd::generated::details::copy_range;
using torch::autograd::generated::details::IndexRangeGenerator;
using torch::autograd::generated::details::not_implemented;
using torch::autograd::generated::details::not_implemented_list;

} // namespace gradmill::formulas
