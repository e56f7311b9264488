#pragma once

// ${generated_comment}

// The autograd Nodes of the core spec set.

#include <ATen/ATen.h>
#include <ATen/TensorGeometry.h>
#include <ATen/core/functional.h>
#include <c10/core/SymIntArrayRef.h>
#include <torch/csrc/Export.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

// The generated text names this type in libtorch's own namespace.
namespace torch::autograd::generated {
using torch::autograd::TypeAndSize;
}

namespace gradmill::core {

// The names that the declarations below use without a namespace.
using at::ArrayRef;
using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::TensorGeometry;
using at::TensorList;
using torch::autograd::edge_list;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::TraceableFunction;
using torch::autograd::variable_list;
using torch::dynamo::autograd::CompiledNodeArgs;
using torch::dynamo::autograd::SwapSavedVariables;

// The tensors behind a list of saved variables.
inline std::vector<Tensor> unpack_list(
    at::ArrayRef<SavedVariable> saved,
    c10::intrusive_ptr<Node> saved_for = nullptr) {
  std::vector<Tensor> tensors;
  tensors.reserve(saved.size());
  for (const SavedVariable& one : saved) {
    tensors.push_back(one.unpack(saved_for));
  }
  return tensors;
}

// The same for a list with gaps: an undefined tensor becomes an empty optional.
inline c10::List<std::optional<Tensor>> unpack_opt_list(
    at::ArrayRef<SavedVariable> saved,
    c10::intrusive_ptr<Node> saved_for = nullptr) {
  c10::List<std::optional<Tensor>> tensors;
  tensors.reserve(saved.size());
  for (const SavedVariable& one : saved) {
    Tensor tensor = one.unpack(saved_for);
    tensors.push_back(tensor.defined() ? std::make_optional(tensor) : std::nullopt);
  }
  return tensors;
}

${autograd_function_declarations}

} // namespace gradmill::core
