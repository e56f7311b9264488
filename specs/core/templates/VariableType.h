#pragma once

// ${generated_comment}

// What the kernels of the core spec set call on their arguments before anything else.

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

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

} // namespace gradmill::core::VariableType
