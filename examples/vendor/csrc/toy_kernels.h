#pragma once

// The functions that generated kernels call: a struct for each operator of the toy backend, and copies of a few helpers
// that PyTorch does not export.

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace toy {

// An operator: `call` starts at the first dispatch key, `redispatch` continues with the given keys.
#define TOY_OPERATOR(NAME, QUALIFIED, OVERLOAD, ...)                                                \
  struct NAME {                                                                                     \
    static const auto& handle() {                                                                   \
      static const auto found =                                                                     \
          c10::Dispatcher::singleton().findSchemaOrThrow(QUALIFIED, OVERLOAD).typed<__VA_ARGS__>(); \
      return found;                                                                                 \
    }                                                                                               \
    template <class... Arguments>                                                                   \
    static decltype(auto) call(Arguments&&... arguments) {                                          \
      return handle().call(std::forward<Arguments>(arguments)...);                                  \
    }                                                                                               \
    template <class... Arguments>                                                                   \
    static decltype(auto) redispatch(c10::DispatchKeySet keys, Arguments&&... arguments) {          \
      return handle().redispatch(keys, std::forward<Arguments>(arguments)...);                      \
    }                                                                                               \
  };

namespace _ops {

TOY_OPERATOR(cube, "toy::cube", "", at::Tensor(const at::Tensor&))
TOY_OPERATOR(cube_, "toy::cube_", "", at::Tensor&(at::Tensor&))
TOY_OPERATOR(cube_out, "toy::cube", "out", at::Tensor&(const at::Tensor&, at::Tensor&))
TOY_OPERATOR(row, "toy::row", "", at::Tensor(const at::Tensor&, int64_t))
TOY_OPERATOR(_foreach_cube, "toy::_foreach_cube", "", std::vector<at::Tensor>(at::TensorList))
TOY_OPERATOR(gated, "toy::gated", "", std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, double))
TOY_OPERATOR(shifted, "toy::shifted", "", at::Tensor(const at::Tensor&, const at::Scalar&))

} // namespace _ops

// Writes a row back into its base, for replayed views.
enum class InverseReturnMode { AlwaysView };

inline at::Tensor row_inverse(const at::Tensor& base, const at::Tensor& row, InverseReturnMode, int64_t index) {
  return at::select_scatter(base, row, 0, index);
}

namespace autograd::VariableType {

inline const at::Tensor& unpack(const at::Tensor& t, const char* name, int position) {
  TORCH_CHECK(t.defined(), "argument #", position, " '", name, "' is an undefined Tensor");
  return t;
}

inline at::Tensor& unpack(at::Tensor& t, const char* name, int position) {
  unpack(static_cast<const at::Tensor&>(t), name, position);
  return t;
}

inline std::vector<at::Tensor> unpack(at::TensorList list, const char*, int) {
  return list.vec();
}

// The expected reference count of a new tensor: one, plus one if Python refers to it.
inline size_t expected_fresh_use_count(const at::Tensor& t) {
  if (!t.defined()) {
    return 0;
  }
  return t.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj() != nullptr ? 2 : 1;
}

} // namespace autograd::VariableType

} // namespace toy
