#pragma once

// The operators that ATen does not have, in the form in which the generated text calls all operators. Generated
// registrations go into the library `aten` whatever the namespace of an operator, so that is where these are found.

#include <ATen/core/ATen_fwd.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <utility>
#include <vector>

namespace gradmill::core {

// An operator with the name that `Name` has, called through the dispatcher.
template <typename Name, typename Signature>
struct Operator;

template <typename Name, typename Result, typename... Arguments>
struct Operator<Name, Result(Arguments...)> {
  static Result call(Arguments... arguments) {
    return handle().call(std::forward<Arguments>(arguments)...);
  }

  static Result redispatch(c10::DispatchKeySet keys, Arguments... arguments) {
    return handle().redispatch(keys, std::forward<Arguments>(arguments)...);
  }

 private:
  static const c10::TypedOperatorHandle<Result(Arguments...)>& handle() {
    static const auto found = c10::Dispatcher::singleton()
                                  .findSchemaOrThrow(Name::name, Name::overload)
                                  .template typed<Result(Arguments...)>();
    return found;
  }
};

} // namespace gradmill::core

// `std` is an operator there.
namespace at::_ops {

struct cube : gradmill::core::Operator<cube, Tensor(const Tensor&)> {
  static constexpr const char* name = "aten::cube";
  static constexpr const char* overload = "";
};

struct cube_out : gradmill::core::Operator<cube_out, Tensor&(const Tensor&, Tensor&)> {
  static constexpr const char* name = "aten::cube";
  static constexpr const char* overload = "out";
};

struct scale : gradmill::core::Operator<scale, Tensor(const Tensor&, double)> {
  static constexpr const char* name = "aten::scale";
  static constexpr const char* overload = "";
};

struct scale_ : gradmill::core::Operator<scale_, Tensor&(Tensor&, double)> {
  static constexpr const char* name = "aten::scale_";
  static constexpr const char* overload = "";
};

struct either : gradmill::core::Operator<either, Tensor(const Tensor&, const Tensor&, bool)> {
  static constexpr const char* name = "aten::either";
  static constexpr const char* overload = "";
};

struct weighted_norms
    : gradmill::core::Operator<
          weighted_norms,
          ::std::vector<Tensor>(TensorList, ArrayRef<double>, ::std::optional<int64_t>, bool)> {
  static constexpr const char* name = "aten::weighted_norms";
  static constexpr const char* overload = "";
};

struct sort_keys : gradmill::core::Operator<sort_keys, Tensor&(const Tensor&, Tensor&, Tensor&)> {
  static constexpr const char* name = "aten::sort_keys";
  static constexpr const char* overload = "";
};

struct upsample_nearest1d_vec_out
    : gradmill::core::Operator<
          upsample_nearest1d_vec_out,
          Tensor&(
              const Tensor&,
              OptionalSymIntArrayRef,
              ::std::optional<ArrayRef<double>>,
              Tensor&)> {
  static constexpr const char* name = "aten::upsample_nearest1d";
  static constexpr const char* overload = "vec_out";
};

} // namespace at::_ops

namespace at::redispatch {

inline Tensor cube(c10::DispatchKeySet keys, const Tensor& self) {
  return _ops::cube::redispatch(keys, self);
}

inline Tensor scale(c10::DispatchKeySet keys, const Tensor& self, double factor) {
  return _ops::scale::redispatch(keys, self, factor);
}

inline Tensor& scale_(c10::DispatchKeySet keys, Tensor& self, double factor) {
  return _ops::scale_::redispatch(keys, self, factor);
}

inline std::vector<Tensor> weighted_norms(
    c10::DispatchKeySet keys,
    TensorList tensors,
    ArrayRef<double> weights,
    std::optional<int64_t> ord,
    bool squared) {
  return _ops::weighted_norms::redispatch(keys, tensors, weights, ord, squared);
}

} // namespace at::redispatch
