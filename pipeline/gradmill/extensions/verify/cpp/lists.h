// Lists of tensors whose headers are slow to compile: included only where an operator takes one.
#pragma once

namespace gradmill {

template <>
struct From<at::ITensorListRef> {
  static at::ITensorListRef get(const Value& value, Arena& arena) {
    return at::ITensorListRef(arena.keep(vector<at::Tensor>(value, arena)));
  }
};
template <class T>
struct From<c10::List<T>> {
  static c10::List<T> get(const Value& value, Arena& arena) {
    c10::List<T> result;
    for (const auto& each : vector<T>(value, arena)) {
      result.push_back(each);
    }
    return result;
  }
};
template <>
struct Held<c10::List<std::optional<at::Tensor>>> {
  static c10::List<std::optional<at::Tensor>> of(const c10::List<std::optional<at::Tensor>>& value) {
    return value;
  }
};

} // namespace gradmill
