#pragma once

// How to make a Node of each class and to fill its saved fields, as VariableType does after it ran an operator.

#include <map>
#include <string>
#include <type_traits>

#include <ATen/SparseCsrTensorUtils.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "Functions.h"
#include "given.h"

namespace gradmill::test {

using torch::autograd::Node;
using torch::autograd::SavedVariable;

struct Kind {
  c10::intrusive_ptr<Node> (*make)();
  void (*save_inputs)(Node&, const Given&);
  void (*save_outputs)(Node&, const Given&);
};

using Kinds = std::map<std::string, Kind>;

// The generated files define `save_inputs` and `save_outputs` for each class, and one `add_kinds_<k>` each.
template <typename N>
Kind kind() {
  return {
      []() -> c10::intrusive_ptr<Node> { return c10::make_intrusive<N>(); },
      [](Node& node, const Given& given) { save_inputs(static_cast<N&>(node), given); },
      [](Node& node, const Given& given) { save_outputs(static_cast<N&>(node), given); }};
}

// ---- A value into a saved field ----

inline void save(SavedVariable& field, const at::Tensor& value, bool is_output = false) {
  field = SavedVariable(value, is_output);
}

inline void save(SavedVariable& field, const std::optional<at::Tensor>& value, bool is_output = false) {
  field = SavedVariable(value.value_or(at::Tensor()), is_output);
}

inline void save(std::vector<SavedVariable>& field, const std::vector<at::Tensor>& value, bool is_output = false) {
  field.clear();
  for (const at::Tensor& one : value) {
    field.emplace_back(one, is_output);
  }
}

inline void save(std::vector<SavedVariable>& field, const std::vector<std::optional<at::Tensor>>& value) {
  field.clear();
  for (const std::optional<at::Tensor>& one : value) {
    field.emplace_back(one.value_or(at::Tensor()), false);
  }
}

inline void save(std::vector<c10::SymInt>& field, c10::SymIntArrayRef value) {
  field = value.vec();
}

inline void save(std::vector<c10::SymInt>& field, const std::vector<int64_t>& value) {
  field.assign(value.begin(), value.end());
}

template <typename To, typename From>
void save(c10::OptionalArray<To>& field, const std::optional<From>& value) {
  if (value.has_value()) {
    field.list = std::vector<To>(value->begin(), value->end());
  }
}

template <typename Field, typename Value>
void save(Field& field, const Value& value) {
  field = value;
}

// ---- What VariableType computes from arguments, under the names that saved expressions use ----

inline c10::SymIntArrayRef strides_or_error(const at::Tensor& tensor, const char* /*name*/) {
  return tensor.sym_strides();
}

inline std::vector<std::vector<int64_t>> to_args_sizes(at::TensorList tensors) {
  std::vector<std::vector<int64_t>> all;
  for (const at::Tensor& tensor : tensors) {
    all.push_back(tensor.sizes().vec());
  }
  return all;
}

inline std::vector<std::vector<c10::SymInt>> to_args_sizes_symint(at::TensorList tensors) {
  std::vector<std::vector<c10::SymInt>> all;
  for (const at::Tensor& tensor : tensors) {
    all.push_back(tensor.sym_sizes().vec());
  }
  return all;
}

inline std::vector<at::ScalarType> to_args_scalartypes(at::TensorList tensors) {
  std::vector<at::ScalarType> all;
  for (const at::Tensor& tensor : tensors) {
    all.push_back(tensor.scalar_type());
  }
  return all;
}

} // namespace gradmill::test
