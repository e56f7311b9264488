#pragma once

// ${generated_comment}

// What the kernels of the core spec set call on their arguments and results.

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/variable.h>

#include <vector>

namespace gradmill::core::VariableType {

// The argument itself, which has to be defined.
inline const at::Tensor& unpack(const at::Tensor& t, const char* name, int position) {
  TORCH_CHECK(
      t.defined(),
      "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #",
      position,
      " '",
      name,
      "'");
  return t;
}

// The same for an argument that is written to.
inline at::Tensor& unpack(at::Tensor& t, const char* name, int position) {
  unpack(static_cast<const at::Tensor&>(t), name, position);
  return t;
}

// The members of a list, whatever ATen holds it in. They may be undefined.
inline std::vector<at::Tensor> unpack(
    const at::ITensorListRef& list,
    const char* /*name*/,
    int /*position*/) {
  std::vector<at::Tensor> members;
  members.reserve(list.size());
  for (const at::Tensor& member : list) {
    members.push_back(member);
  }
  return members;
}

// A leaf whose storage was replaced has another place for its gradient.
inline void reset_grad_accumulator(at::Tensor& t) {
  if (auto* meta = torch::autograd::impl::get_autograd_meta(t)) {
    meta->grad_accumulator_.reset();
  }
}

// How many owners a result has that nobody else can know of yet.
inline size_t expected_fresh_use_count(const at::Tensor& t) {
  if (!t.defined()) {
    return 0;
  }
  const bool known_to_python = t.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj() != nullptr;
  return known_to_python ? 2 : 1;
}

} // namespace gradmill::core::VariableType
