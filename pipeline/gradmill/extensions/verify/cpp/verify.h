// What a library of formulas is made of: values that Python passes, and their conversion to and from C++.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace gradmill {

// As `child/formulas.py` declares it.
struct Value {
  int64_t kind;
  int64_t integer;
  double real;
  double imaginary;
  const void* data; // a tensor, the characters of a string, the members of a list
  int64_t size;
};

enum Kind : int64_t { NONE, TENSOR, INT, FLOAT, BOOL, COMPLEX, STRING, LIST };

// Keeps what references and lists refer to, for the time of a call.
class Arena {
 public:
  template <class T>
  T& keep(T value) {
    auto held = std::make_shared<T>(std::move(value));
    values_.push_back(held);
    return *held;
  }

 private:
  std::vector<std::shared_ptr<void>> values_;
};

inline const Value* members(const Value& value) {
  return static_cast<const Value*>(value.data);
}

template <class T>
struct From;

template <class T>
T get(const Value& value, Arena& arena) {
  return From<T>::get(value, arena);
}

template <class T>
std::vector<T> vector(const Value& value, Arena& arena) {
  std::vector<T> result;
  result.reserve(value.size);
  for (int64_t i = 0; i < value.size; ++i) {
    result.push_back(get<T>(members(value)[i], arena));
  }
  return result;
}

template <>
struct From<at::Tensor> {
  static at::Tensor get(const Value& value, Arena&) {
    return value.kind == TENSOR ? *static_cast<const at::Tensor*>(value.data) : at::Tensor();
  }
};
template <>
struct From<int64_t> {
  static int64_t get(const Value& value, Arena&) {
    return value.integer;
  }
};
template <>
struct From<bool> {
  static bool get(const Value& value, Arena&) {
    return value.integer != 0;
  }
};
template <>
struct From<double> {
  static double get(const Value& value, Arena&) {
    return value.kind == FLOAT ? value.real : static_cast<double>(value.integer);
  }
};
template <>
struct From<c10::SymInt> {
  static c10::SymInt get(const Value& value, Arena&) {
    return value.integer;
  }
};
template <>
struct From<at::Scalar> {
  static at::Scalar get(const Value& value, Arena&) {
    switch (value.kind) {
      case FLOAT:
        return value.real;
      case BOOL:
        return value.integer != 0;
      case COMPLEX:
        return c10::complex<double>(value.real, value.imaginary);
      default:
        return value.integer;
    }
  }
};
template <>
struct From<std::string_view> {
  static std::string_view get(const Value& value, Arena&) {
    return {static_cast<const char*>(value.data), static_cast<size_t>(value.size)};
  }
};
template <>
struct From<at::ScalarType> { // passed as a tensor of that type
  static at::ScalarType get(const Value& value, Arena& arena) {
    return gradmill::get<at::Tensor>(value, arena).scalar_type();
  }
};
template <>
struct From<at::Layout> {
  static at::Layout get(const Value&, Arena&) {
    return at::kStrided;
  }
};
template <>
struct From<at::Device> {
  static at::Device get(const Value& value, Arena& arena) {
    return at::Device(std::string(gradmill::get<std::string_view>(value, arena)));
  }
};
template <>
struct From<at::MemoryFormat> {
  static at::MemoryFormat get(const Value& value, Arena&) {
    return static_cast<at::MemoryFormat>(value.integer);
  }
};
template <>
struct From<at::Generator> { // a random operator has drawn its numbers before its formula runs
  static at::Generator get(const Value&, Arena&) {
    return at::Generator();
  }
};
template <class T>
struct From<std::optional<T>> {
  static std::optional<T> get(const Value& value, Arena& arena) {
    return value.kind == NONE ? std::nullopt : std::optional<T>(gradmill::get<T>(value, arena));
  }
};
template <class T>
struct From<std::vector<T>> {
  static std::vector<T> get(const Value& value, Arena& arena) {
    return vector<T>(value, arena);
  }
};
template <class T>
struct From<at::ArrayRef<T>> {
  static at::ArrayRef<T> get(const Value& value, Arena& arena) {
    return arena.keep(vector<T>(value, arena));
  }
};
template <class T>
struct From<at::OptionalArrayRef<T>> {
  static at::OptionalArrayRef<T> get(const Value& value, Arena& arena) {
    return gradmill::get<std::optional<at::ArrayRef<T>>>(value, arena);
  }
};
template <size_t N>
struct From<std::array<bool, N>> {
  static std::array<bool, N> get(const Value& value, Arena& arena) {
    std::array<bool, N> result{};
    for (size_t i = 0; i < N; ++i) {
      result[i] = gradmill::get<bool>(members(value)[i], arena);
    }
    return result;
  }
};

// ---- what a Node saves of an argument or result: the type that its gradient function takes

template <class To>
struct Held {
  template <class T>
  static To of(const T& value) {
    return To(value);
  }
};
template <>
struct Held<at::Tensor> {
  static at::Tensor of(const at::Tensor& value) {
    return value;
  }
  static at::Tensor of(const std::optional<at::Tensor>& value) {
    return value.value_or(at::Tensor());
  }
};
template <class T>
struct Held<std::vector<T>> {
  template <class L>
  static std::vector<T> of(const L& values) {
    std::vector<T> result;
    for (const auto& value : values) {
      result.push_back(value);
    }
    return result;
  }
};
template <>
struct Held<std::optional<std::string>> {
  static std::optional<std::string> of(const std::optional<std::string_view>& value) {
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
};
template <class T>
struct Held<c10::OptionalArray<T>> {
  static c10::OptionalArray<T> of(const c10::OptionalArray<T>& value) {
    return value;
  }
  template <class L>
  static c10::OptionalArray<T> of(const L& value) {
    c10::OptionalArray<T> result;
    if (value) {
      result.list = value->vec();
    }
    return result;
  }
};

// ---- results

inline void put(Value& out, const at::Tensor& tensor, Arena&) {
  out = tensor.defined() ? Value{TENSOR, 0, 0, 0, new at::Tensor(tensor), 0} : Value{NONE, 0, 0, 0, nullptr, 0};
}
inline void put(Value& out, const std::vector<at::Tensor>& tensors, Arena& arena) {
  auto& list = arena.keep(std::vector<Value>(tensors.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    put(list[i], tensors[i], arena);
  }
  out = Value{LIST, 0, 0, 0, list.data(), static_cast<int64_t>(list.size())};
}
template <class... T>
void put(Value& out, const std::tuple<T...>& tensors, Arena& arena) {
  std::apply([&](const auto&... each) { put(out, std::vector<at::Tensor>{each...}, arena); }, tensors);
}
template <class T>
void put(Value& out, const std::optional<T>& value, Arena& arena) {
  put(out, value ? *value : T(), arena);
}

// The zeros of an input without a tangent, as a kernel has them: written to if `in_place`, else without memory.
inline at::Tensor tangent(const at::Tensor& raw, const at::Tensor& primal, bool in_place) {
  if (raw.defined() || !primal.defined()) {
    return raw;
  }
  return in_place ? at::zeros_symint(primal.sym_sizes(), primal.options())
                  : at::_efficientzerotensor_symint(primal.sym_sizes(), primal.options());
}
// As a kernel does, which sets no other tangent in place of the one that `self` has.
inline void check_written(const at::Tensor& raw, const std::optional<at::Tensor>& computed) {
  if (raw.defined() && !(computed && computed->is_same(raw))) {
    throw std::runtime_error("a tangent of an in-place function must be written into self_t, and be returned");
  }
}
inline at::Tensor primal(const at::Tensor& tensor) {
  return tensor;
}
inline at::Tensor primal(const std::optional<at::Tensor>& tensor) {
  return tensor.value_or(at::Tensor());
}

// Runs `body`; an exception's message, or null. The result lives until the next call in this thread.
template <class F>
const char* without_exceptions(F body) {
  static thread_local std::string message;
  static thread_local std::unique_ptr<Arena> arena;
  arena = std::make_unique<Arena>();
  try {
    body(*arena);
    return nullptr;
  } catch (const c10::Error& error) {
    message = error.what_without_backtrace();
  } catch (const std::exception& error) {
    message = error.what();
  }
  return message.c_str();
}

} // namespace gradmill

using torch::autograd::variable_list;
