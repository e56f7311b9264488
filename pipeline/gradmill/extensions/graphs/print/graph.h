//// runtime, since 2.10
#pragma once

// What the sources of graphs have in common: written values, gradients that fit, views written into, recorded calls.

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/OpMathType.h>
#include <ATen/SDPBackend.h>
#include <ATen/ScalarOps.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/functorch/BatchedTensorImpl.h> // before the older one, whose names it would find
#include <ATen/LegacyBatchedTensorImpl.h>
#include <c10/core/RefcountedDeleter.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/SmallVector.h>
#include <c10/util/generic_math.h>
#include <c10/util/irange.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace gradmill::graph {

using at::Tensor;
using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

template <class Of>
//<2.13 using NodePointer = std::shared_ptr<Of>;
//>=2.13 using NodePointer = c10::intrusive_ptr<Of>;

template <class Of, class... Given>
NodePointer<Of> new_node(Given&&... given) {
//<2.13   return NodePointer<Of>(new Of(std::forward<Given>(given)...), torch::autograd::deleteNode);
//>=2.13   return c10::make_intrusive<Of>(std::forward<Given>(given)...);
}

// A graph computes in the dtypes that it was made for: an autocast around a call does not apply.
struct NoAutocast {
  c10::impl::ExcludeDispatchKeyGuard guard{c10::autocast_dispatch_keyset};
};

// A call within a region of autocast, for an operator whose parts depend on it.
template <class Call>
auto autocast(at::Device on, at::ScalarType dtype, Call call) {
  const auto device = on.type();
  const bool enabled = at::autocast::is_autocast_enabled(device);
  const auto before = at::autocast::get_autocast_dtype(device);
  at::autocast::set_autocast_enabled(device, true);
  at::autocast::set_autocast_dtype(device, dtype);
  at::autocast::increment_nesting();
  const auto end = c10::make_scope_exit([&] {
    if (at::autocast::decrement_nesting() == 0) {
      at::autocast::clear_cache();
    }
    at::autocast::set_autocast_dtype(device, before);
    at::autocast::set_autocast_enabled(device, enabled);
  });
  return call();
}

// ---- Values ----

// Whether the elements have their own memory, with gaps in between.
inline bool has_gaps(const Tensor& self) {
  if (self.is_non_overlapping_and_dense()) {
    return false;
  }
  std::vector<std::pair<int64_t, int64_t>> dims; // stride and size
  for (const auto dim : c10::irange(self.dim())) {
    if (self.size(dim) > 1) {
      dims.emplace_back(self.stride(dim), self.size(dim));
    }
  }
  std::sort(dims.begin(), dims.end());
  int64_t end = 1; // of the elements in the dimensions so far
  for (const auto& [stride, size] : dims) {
    if (stride < end) {
      return false;
    }
    end += stride * (size - 1);
  }
  return true;
}

// A new tensor with the strides of `self`, with its gaps, too: on them depends what `contiguous` and `reshape` share.
inline Tensor like(const Tensor& self) {
  return has_gaps(self) ? at::empty_strided(self.sizes(), self.strides(), self.options()) : at::empty_like(self);
}

inline Tensor copied(const Tensor& self) {
  return self.layout() == at::kStrided && has_gaps(self) ? like(self).copy_(self) : self.clone();
}

// What an in-place operator leaves in `self`, from what its functional variant gives: the same shape, dtype and strides.
inline Tensor written(const Tensor& self, const Tensor& result) {
  TORCH_CHECK(
      result.sizes() == self.sizes(),
      "output with shape ",
      self.sizes(),
      " doesn't match the broadcast shape ",
      result.sizes());
  TORCH_CHECK(
      at::canCast(result.scalar_type(), self.scalar_type()),
      "result type ",
      result.scalar_type(),
      " can't be cast to the desired output type ",
      self.scalar_type());
  const bool has_layout = self.is_non_overlapping_and_dense() || has_gaps(self);
  const bool same_layout = result.strides() == self.strides() || !has_layout;
  if (result.scalar_type() == self.scalar_type() && same_layout && !result.is_same(self)) {
    return result;
  }
  return like(self).copy_(result);
}

// Refuses, as autograd does, a complex result that needs a gradient, of an operator whose formulas are for real numbers.
inline void check_real(const Tensor& result, const char* name) {
  TORCH_CHECK(
      !result.defined() || !result.is_complex(),
      name,
      " does not support automatic differentiation for outputs with complex dtype.");
}

// Refuses an out argument that was resized, but an empty one that may grow.
inline void check_out(const Tensor& after, const Tensor& before, bool grows) {
  TORCH_CHECK(
      after.sizes() == before.sizes() || (grows && before.numel() == 0),
      "an out argument of shape ",
      before.sizes(),
      " would be resized to ",
      after.sizes(),
      ", which a graph does not do: pass one of that shape");
}

// The value of `x[…] = value` as Python copies it: expanded if it has other sizes, without leading ones.
inline Tensor assigned(const Tensor& value, const Tensor& to) {
  if (value.sizes() == to.sizes()) {
    return value;
  }
  const auto* first = std::find_if(value.sizes().begin(), value.sizes().end(), [](int64_t size) { return size != 1; });
  return value.view(value.sizes().slice(first - value.sizes().begin())).expand(to.sizes());
}

// Refuses, as eager's kernels do, a write to a view of `base` that reads another one, if they overlap in memory: in part,
// or at all.
template <class Written, class Read>
void check_partial_overlap(const Tensor& base, Written written, Read read) {
  at::assert_no_partial_overlap(written(base), read(base));
}
template <class Written, class Read>
void check_overlap(const Tensor& base, Written written, Read read) {
  at::assert_no_overlap(written(base), read(base));
}

// `base` with `value` in the place of one of its views.
template <class View>
Tensor scatter(const Tensor& base, const Tensor& value, View view) {
  Tensor result = copied(base);
  view(result).copy_(value);
  return result;
}

// The same, where elements of the view that are one in memory have one value: each is written once.
template <class View>
Tensor scatter_same(const Tensor& base, const Tensor& value, View view) {
  Tensor result = copied(base);
  Tensor into = view(result), from = value;
  for (const auto dim : c10::irange(into.dim())) {
    if (into.stride(dim) == 0 && into.size(dim) > 1) {
      into = into.narrow(dim, 0, 1);
      from = from.narrow(dim, 0, 1);
    }
  }
  into.copy_(from);
  return result;
}

// A base whose views may be told by strides and offset: a copy of it has the same.
inline const Tensor& whole(const Tensor& base) {
  TORCH_CHECK(
      base.is_non_overlapping_and_dense() && base.storage_offset() == 0,
      "as_strided of a tensor that is written to, and is itself a part of another one: clone it first");
  return base;
}

inline std::optional<Tensor> maybe(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

// An argument of another type than the value, which may be optional.
template <class T, class U>
T as(const U& value) {
  if constexpr (std::is_same_v<T, c10::SymIntArrayRef>) {
    return c10::fromIntArrayRefSlow(value);
  } else if constexpr (std::is_same_v<T, double> && std::is_same_v<U, at::Scalar>) {
    return value.toDouble();
  } else {
    return T(value);
  }
}
template <class T, class U>
std::optional<T> optional(const U& value) {
  if constexpr (requires { value.has_value(); }) {
    return value.has_value() ? std::optional<T>(as<T>(*value)) : std::nullopt;
  } else {
    return as<T>(value);
  }
}

// A view of the memory of a tensor.
inline Tensor strided(
    const Tensor& base, at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<int64_t> offset) {
  return at::_ops::as_strided::call(
      base, c10::fromIntArrayRefSlow(sizes), c10::fromIntArrayRefSlow(strides), optional<c10::SymInt>(offset));
}

// What an input refers to, for keeps.
template <class T>
auto owned(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return std::string(value);
  } else if constexpr (requires { value.vec(); }) {
    return value.vec();
  } else {
    return value.has_value() ? std::optional(owned(*value)) : std::nullopt;
  }
}

// The place of an item of a list: an index may count from the end.
inline int64_t place(int64_t index, size_t length) {
  return index < 0 ? index + static_cast<int64_t>(length) : index;
}

// An item of a list that was held; undefined if the list was not, because nothing uses it.
inline Tensor held(at::TensorList list, int64_t index) {
  return list.empty() ? Tensor() : list[place(index, list.size())];
}

// As many ':' as '...' stands for in a subscript.
struct Gap {
  int64_t count = 0;
};

// One of the arguments of `index`, or as many as a gap has.
struct Index {
  std::optional<Tensor> tensor;
  int64_t count = 1;

  Index(const Tensor& of) : tensor(of) {}
  Index(std::nullopt_t /*all*/) {}
  Index(Gap gap) : count(gap.count) {}
};

inline c10::List<std::optional<Tensor>> indices(std::initializer_list<Index> given) {
  c10::List<std::optional<Tensor>> found;
  for (const Index& each : given) {
    for (int64_t i = 0; i < each.count; ++i) {
      found.push_back(each.tensor);
    }
  }
  return found;
}

// Whether autograd records what is called: in a forward whose gradients shall be differentiated.
inline bool recording() {
  const auto excluded = c10::impl::tls_local_dispatch_key_set().excluded_;
  return at::GradMode::is_enabled() && !excluded.has(c10::DispatchKey::ADInplaceOrView);
}

// The functional `copy`, which has no derivative in the library.
inline Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) {
  return recording() ? like(self).copy_(src, non_blocking) : at::_ops::copy::call(self, src, non_blocking);
}

// The same tensor without a history, whose version is that of `of`. `detach()` would also cut the histories that
// a tensor has outside of a function that torch.func differentiates.
inline Tensor bare(const Tensor& tensor, const Tensor& of) {
  const auto& version = of.unsafeGetTensorImpl()->version_counter();
  return Tensor(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(version, false));
}
inline Tensor bare(const Tensor& tensor) {
  return bare(tensor, tensor);
}

// An input that the graph writes to: a copy, where autograd records the forward and saves it.
inline Tensor unchanged(const Tensor& input) {
  return recording() && input.defined() ? copied(input) : input;
}

// What was written to `old` without autograd: it keeps the history of that.
inline Tensor overwritten(const Tensor& old, const Tensor& value) {
  if (!recording() || !old.requires_grad()) {
    return value;
  }
  Tensor found = bare(value);
  const auto node = new_node<torch::autograd::Identity>();
  node->set_next_edges({torch::autograd::impl::gradient_edge(old)});
  torch::autograd::set_history(found, node);
  return found;
}

// The tensor that has the memory of several that vmap maps.
inline Tensor unmapped(Tensor tensor) {
  while (tensor.defined() && !tensor.has_storage()) {
    const auto* batched = at::functorch::maybeGetBatchedImpl(tensor);
    if (batched == nullptr) {
      break;
    }
    tensor = Tensor(batched->value());
  }
  return tensor;
}

// Whether two tensors share memory. One that torch.func.grad wraps says so by an operator; one without memory of its own,
// such as a sparse one, shares it with itself.
inline bool shares_memory(const Tensor& one, const Tensor& other) {
  const Tensor a = unmapped(one), b = unmapped(other);
  if (a.has_storage() && b.has_storage()) {
    return a.is_alias_of(b);
  }
  const auto wrapped = [](const Tensor& each) { return each.key_set().has(c10::DispatchKey::FuncTorchGradWrapper); };
  const auto begin = [](const Tensor& each) { return at::as_strided(each, {0}, {1}, 0); };
  return wrapped(a) || wrapped(b) ? begin(a).is_set_to(begin(b)) : a.is_same(b);
}

// Whether they may: those inside of torch.func, and sparse ones, do not say what memory they have.
inline bool may_share(const Tensor& one, const Tensor& other) {
  return !one.has_storage() || !other.has_storage() || one.is_alias_of(other);
}

// What an operator gave, where that may be an argument itself, or a view of it: another tensor then, whose history is
// its own, and whose version is the argument's.
inline Tensor sharing(const Tensor& result, const Tensor& of) {
  const bool as_it_is = !result.defined() || !of.defined() || recording() || !may_share(result, of);
  return as_it_is ? result : bare(result, of);
}
inline std::vector<Tensor> sharing(std::vector<Tensor> results, const Tensor& of) {
  for (Tensor& each : results) {
    each = sharing(each, of);
  }
  return results;
}

// A view that is all that would keep a tensor: a copy, if it is at most half of the tensor's memory.
inline Tensor compact(const Tensor& part) {
  const bool known = part.defined() && part.has_storage();
  return known && 2 * part.sym_numel() * part.itemsize() <= part.storage().sym_nbytes() ? part.clone() : part;
}

// What is to stay as it is, whatever is written to the memory of others: a copy, if it is in that.
inline Tensor apart(const Tensor& tensor, at::TensorList others) {
  for (const Tensor& other : others) {
    if (tensor.defined() && other.defined() && shares_memory(tensor, other)) {
      return tensor.clone();
    }
  }
  return tensor;
}

// A number in the place of a tensor: it counts less for the result's dtype.
inline Tensor operand(const at::Scalar& number) {
  Tensor found = c10::scalar_to_tensor(number);
  found.unsafeGetTensorImpl()->set_wrapped_number(true);
  return found;
}

template <class Call>
auto without_grad(Call call) {
  at::NoGradGuard guard;
  return call();
}

template <class Call>
auto silently(Call call) {
  at::AutoDispatchBelowADInplaceOrView guard;
  return call();
}

// Runs a forward. Autograd records it if its gradients shall be differentiated, so that its values have histories.
template <class Call>
auto run(Call call, bool recorded = false) {
  const NoAutocast no_autocast;
  return recorded ? call() : silently(call);
}

// A result without the history that autograd recorded: it gets the Node of the graph as its history.
inline Tensor cut(const Tensor& result) {
  return result.defined() && result.requires_grad() ? bare(result) : result;
}
inline std::vector<Tensor> cut(std::vector<Tensor> results) {
  for (Tensor& each : results) {
    each = cut(each);
  }
  return results;
}

inline std::vector<Tensor> list_of(at::ITensorListRef tensors) {
  return {tensors.begin(), tensors.end()};
}

// An item of a list of tensors or of numbers, as in Python.
template <class List>
auto item(const List& list, int64_t index) {
  const auto size = static_cast<int64_t>(list.size());
  TORCH_CHECK_INDEX(index >= -size && index < size, "list index ", index, " is out of range of ", size);
  return list[place(index, list.size())];
}

// Refuses, as Python does, to unpack a list into another number of names.
template <class List>
void check_unpacked(const List& list, size_t count) {
  TORCH_CHECK_VALUE(list.size() == count, "expected ", count, " values to unpack, got ", list.size());
}

// ---- Numbers: as Python has them ----

// An index that may count from the end.
inline int64_t wrapped(int64_t index, int64_t size) {
  TORCH_CHECK(index >= -size && index < size, "index ", index, " is out of range of ", size);
  return place(index, size);
}

inline constexpr const char* TOO_LARGE = "the number is too large: it has more than 64 bits";

inline bool is_integer(const at::Scalar& number) {
  TORCH_CHECK_TYPE(!number.isComplex(), "a complex number, where an int or a float is needed");
  return number.isIntegral(/*includeBool=*/true);
}
inline bool are_integers(const at::Scalar& a, const at::Scalar& b) {
  return is_integer(a) && is_integer(b);
}
inline int64_t integer(const at::Scalar& number) {
  TORCH_CHECK_TYPE(is_integer(number), "a float, where an int is needed");
  return number.toLong();
}
inline double real(const at::Scalar& number) {
  return is_integer(number) ? static_cast<double>(number.toLong()) : number.toDouble();
}

// The order of two numbers: an int and a float are compared exactly, as in Python.
inline std::partial_ordering compare(const at::Scalar& a, const at::Scalar& b) {
  if (are_integers(a, b)) {
    return a.toLong() <=> b.toLong();
  }
  if (!is_integer(a) && !is_integer(b)) {
    return a.toDouble() <=> b.toDouble();
  }
  if (is_integer(b)) {
    return 0 <=> compare(b, a);
  }
  const double other = b.toDouble();
  if (!(other >= -0x1p63 && other < 0x1p63)) { // infinite or not a number, too
    return 0.0 <=> other;
  }
  const double down = std::floor(other);
  const auto order = a.toLong() <=> static_cast<int64_t>(down);
  return order != 0 ? std::partial_ordering(order) : down <=> other;
}
inline at::Scalar min(const at::Scalar& a, const at::Scalar& b) {
  return compare(b, a) < 0 ? b : a;
}
inline at::Scalar max(const at::Scalar& a, const at::Scalar& b) {
  return compare(b, a) > 0 ? b : a;
}

// a + b, a - b, a * b. Of whole numbers of 64 bits, 128 hold all results.
__extension__ typedef __int128 Wide;
template <class Operation>
at::Scalar arithmetic(const at::Scalar& a, const at::Scalar& b, Operation operation) {
  if (!are_integers(a, b)) {
    return operation(real(a), real(b));
  }
  const Wide found = operation(Wide(a.toLong()), Wide(b.toLong()));
  TORCH_CHECK(found == static_cast<int64_t>(found), TOO_LARGE);
  return static_cast<int64_t>(found);
}
inline at::Scalar add(const at::Scalar& a, const at::Scalar& b) {
  return arithmetic(a, b, std::plus<>());
}
inline at::Scalar sub(const at::Scalar& a, const at::Scalar& b) {
  return arithmetic(a, b, std::minus<>());
}
inline at::Scalar mul(const at::Scalar& a, const at::Scalar& b) {
  return arithmetic(a, b, std::multiplies<>());
}
inline at::Scalar neg(const at::Scalar& a) {
  return is_integer(a) ? sub(int64_t(0), a) : at::Scalar(-a.toDouble());
}
inline at::Scalar abs(const at::Scalar& a) {
  return is_integer(a) ? (a.toLong() < 0 ? neg(a) : at::Scalar(a.toLong())) : at::Scalar(std::abs(a.toDouble()));
}

// a // b and a % b: the rest has the sign of b. The smallest int by -1 overflows.
inline at::Scalar mod(const at::Scalar& a, const at::Scalar& b) {
  if (!are_integers(a, b)) {
    TORCH_CHECK(real(b) != 0, "float division or modulo by zero");
    return c10::div_mod(real(a), real(b));
  }
  TORCH_CHECK(b.toLong() != 0, "integer division or modulo by zero");
  return b.toLong() == -1 ? int64_t(0) : c10::div_mod(a.toLong(), b.toLong());
}
inline at::Scalar floordiv(const at::Scalar& a, const at::Scalar& b) {
  if (!are_integers(a, b)) {
    TORCH_CHECK(real(b) != 0, "float division or modulo by zero");
    return c10::div_floor_floating(real(a), real(b));
  }
  TORCH_CHECK(b.toLong() != 0, "integer division or modulo by zero");
  return b.toLong() == -1 ? neg(a) : at::Scalar(c10::div_floor_integer(a.toLong(), b.toLong()));
}

// a / b. The quotient of whole numbers is rounded once, even if they have no exact float.
inline double truediv(const at::Scalar& a, const at::Scalar& b) {
  TORCH_CHECK(real(b) != 0, "division by zero");
  const auto magnitude = [](const at::Scalar& each) {
    return each.toLong() < 0 ? -static_cast<uint64_t>(each.toLong()) : static_cast<uint64_t>(each.toLong());
  };
  if (!are_integers(a, b) || a.toLong() == 0 || ((magnitude(a) | magnitude(b)) >> 53) == 0) {
    return real(a) / real(b);
  }
  __extension__ typedef unsigned __int128 Unsigned;
  const int left = __builtin_clzll(magnitude(a));
  const Unsigned of = static_cast<Unsigned>(magnitude(a) << left) << 63;
  Unsigned found = of / magnitude(b);
  bool rest = of % magnitude(b) != 0;
  int shift = -63 - left;
  for (; found >> 64; found >>= 1, ++shift) {
    rest = rest || (found & 1);
  }
  const double absolute = std::ldexp(static_cast<double>(static_cast<uint64_t>(found) | (rest ? 1 : 0)), shift);
  return (a.toLong() < 0) == (b.toLong() < 0) ? absolute : -absolute;
}

inline at::Scalar power(const at::Scalar& a, const at::Scalar& b) {
  if (are_integers(a, b) && b.toLong() >= 0) {
    at::Scalar square = a, found = int64_t(1);
    for (int64_t left = b.toLong(); left > 0; left >>= 1) {
      found = left & 1 ? mul(found, square) : found;
      square = left > 1 ? mul(square, square) : square;
    }
    return found;
  }
  const double base = real(a), exponent = real(b);
  const double found = base == 1 || exponent == 0 ? 1 : std::pow(base, exponent); // of a signaling nan, too
  if (std::isfinite(base) && std::isfinite(exponent)) {
    TORCH_CHECK(base != 0 || exponent >= 0, "0.0 cannot be raised to a negative power");
    TORCH_CHECK(base >= 0 || exponent == std::floor(exponent), base, " ** ", exponent, " is a complex number");
    TORCH_CHECK(std::isfinite(found), base, " ** ", exponent, " is too large for a float");
  }
  return found;
}

template <class Operation>
at::Scalar bits(const at::Scalar& a, const at::Scalar& b, Operation operation) {
  const int64_t found = operation(integer(a), integer(b));
  return a.isBoolean() && b.isBoolean() ? at::Scalar(found != 0) : at::Scalar(found);
}
inline int64_t lshift(const at::Scalar& a, const at::Scalar& b) {
  const int64_t value = integer(a), by = integer(b);
  TORCH_CHECK_VALUE(by >= 0, "negative shift count");
  const auto found = static_cast<int64_t>(static_cast<uint64_t>(value) << std::min<int64_t>(by, 63));
  TORCH_CHECK(value == 0 || (by < 64 && found >> by == value), TOO_LARGE);
  return value == 0 ? 0 : found;
}
inline int64_t rshift(const at::Scalar& a, const at::Scalar& b) {
  const int64_t value = integer(a), by = integer(b);
  TORCH_CHECK_VALUE(by >= 0, "negative shift count");
  return value >> std::min<int64_t>(by, 63);
}

// The whole number that a number is rounded to.
inline int64_t rounded(const at::Scalar& number, double (*round)(double)) {
  if (is_integer(number)) {
    return number.toLong();
  }
  const double found = round(number.toDouble());
  TORCH_CHECK_VALUE(!std::isnan(found), "cannot convert float NaN to integer");
  TORCH_CHECK(!std::isinf(found), "cannot convert float infinity to integer");
  TORCH_CHECK(found >= -0x1p63 && found < 0x1p63, TOO_LARGE);
  return static_cast<int64_t>(found);
}

// A number rounded to a number of decimal digits, half to even: of its exact decimal value, as by Python.
inline at::Scalar round_digits(const at::Scalar& number, const at::Scalar& digits) {
  const int64_t count = integer(digits);
  if (is_integer(number)) {
    const int64_t value = number.toLong();
    if (count >= 0 || count < -19) {
      return count < 0 ? 0 : value;
    }
    Wide unit = 1;
    for (int64_t i = count; i < 0; ++i) {
      unit *= 10;
    }
    const Wide rest = 2 * (value % unit), up = value / unit % 2 == 0 ? rest : rest + (value < 0 ? -1 : 1);
    const Wide found = value - value % unit + (up > unit ? unit : up < -unit ? -unit : 0);
    TORCH_CHECK(found == static_cast<int64_t>(found), TOO_LARGE);
    return static_cast<int64_t>(found);
  }
  const double value = number.toDouble();
  if (!std::isfinite(value) || count > 323) {
    return value;
  }
  if (value == 0 || count < -308) {
    return std::copysign(0.0, value);
  }
  char text[1200]; // all digits that a double can have
  std::snprintf(text, sizeof(text), "%.1074e", std::abs(value));
  const int64_t kept = std::atoi(std::strchr(text, 'e') + 1) + count;
  const bool more_than_half = text[0] > '5' || (text[0] == '5' && std::strtod(text + 2, nullptr) > 0);
  if (kept < -1 || (kept == -1 && !more_than_half)) {
    return std::copysign(0.0, value);
  }
  if (kept == -1) {
    std::snprintf(text, sizeof(text), "1e%d", static_cast<int>(-count));
  } else {
    std::snprintf(text, sizeof(text), "%.*e", static_cast<int>(std::min<int64_t>(kept, 1074)), std::abs(value));
  }
  const double found = std::strtod(text, nullptr);
  TORCH_CHECK(std::isfinite(found), "rounded value too large to represent");
  return std::copysign(found, value);
}

// A function of Python's `math`, which refuses numbers that it is not defined for, and results that are too large.
inline double math(const char* name, double (*function)(double), const at::Scalar& number) {
  const double given = real(number), found = function(given);
  const bool defined = std::isnan(given) || !(std::isnan(found) || (std::isinf(found) && std::abs(given) <= 1));
  TORCH_CHECK_VALUE(defined, "math domain error: math.", name, "(", given, ")");
  TORCH_CHECK(!std::isinf(found) || std::isinf(given), "math range error: math.", name, "(", given, ")");
  return found;
}

inline std::vector<int64_t> slice(at::IntArrayRef list, int64_t start, int64_t end) {
  const auto size = static_cast<int64_t>(list.size());
  const auto within = [size](int64_t at) { return std::min(std::max(at < 0 ? at + size : at, int64_t(0)), size); };
  const auto from = within(start), to = within(end);
  return from < to ? list.slice(from, to - from).vec() : std::vector<int64_t>();
}
inline std::vector<int64_t> concat(const std::vector<std::vector<int64_t>>& lists) {
  std::vector<int64_t> found;
  for (const auto& list : lists) {
    found.insert(found.end(), list.begin(), list.end());
  }
  return found;
}

// The operators' number for how a loss is reduced.
inline int64_t reduction(c10::string_view text) {
  TORCH_CHECK_VALUE(
      text == "none" || text == "mean" || text == "sum", text, " is not a valid value for reduction: none, mean or sum");
  return text == "none" ? at::Reduction::None : text == "mean" ? at::Reduction::Mean : at::Reduction::Sum;
}
// The same of a loss that may be summed, and divided by the number of rows.
inline int64_t batch_reduction(c10::string_view text) {
  return text == "batchmean" ? at::Reduction::Sum : reduction(text);
}
inline int64_t batch_divisor(const Tensor& input, c10::string_view text) {
  return text == "batchmean" && input.dim() > 0 ? input.size(0) : 1;
}

// Guards of sizes that are known at run time only.
inline void expect(int64_t actual, int64_t expected, const char* what) {
  TORCH_CHECK(actual == expected, what, " = ", expected, ", got ", actual);
}
inline void guard(bool holds, const char* what) {
  TORCH_CHECK(holds, what);
}
inline void within(int64_t value, int64_t least, int64_t most, const char* what) {
  TORCH_CHECK(least <= value && value <= most, what, " must be in [", least, ", ", most, "], got ", value);
}

// Whether a tensor of a subscript says for each place whether it is selected.
inline bool is_mask(const Tensor& index) {
  return index.defined() && (index.scalar_type() == at::kBool || index.scalar_type() == at::kByte);
}

// Whether the tensors of a subscript make a view in eager: each has one integer and no dimensions, and selects. Refuses
// what `index` and `index_put_` do otherwise than eager's subscripts.
inline bool selects(const std::vector<Tensor>& indices) {
  int64_t all = 0, selecting = 0, first = -1, last = -1;
  for (const auto i : c10::irange(static_cast<int64_t>(indices.size()))) {
    if (indices[i].defined()) {
      TORCH_CHECK(
          indices[i].dim() > 0 || !is_mask(indices[i]),
          "a subscript is a bool tensor without dimensions: a graph does not support it, write torch.where(…)");
      all += 1;
      selecting += indices[i].dim() == 0;
      first = first < 0 ? i : first;
      last = i;
    }
  }
  TORCH_CHECK(
      selecting == 0 || selecting == all || last - first + 1 == all,
      "a subscript has a ':' between a tensor without dimensions and one with dimensions: write two subscripts");
  return selecting == all;
}

// How many dimensions one of the tensors of a subscript, or a ':' between them, is for.
inline int64_t spanned(const Tensor& index) {
  return is_mask(index) ? std::max<int64_t>(index.dim(), 1) : 1;
}

// The dimension `dim` of a subscript, from the end if it is negative, where each of the tensors between counted as one.
inline int64_t beyond(int64_t dim, const std::vector<Tensor>& indices) {
  for (const Tensor& each : indices) {
    dim += (dim < 0 ? -1 : 1) * (spanned(each) - 1);
  }
  return dim;
}

// The gap in a subscript of `self` with `indices`.
inline Gap gap(const Tensor& self, const std::vector<Tensor>& indices) {
  int64_t count = self.dim();
  for (const Tensor& each : indices) {
    count -= spanned(each);
  }
  TORCH_CHECK_INDEX(count >= 0, "too many indices for tensor of dimension ", self.dim());
  return {count};
}

// ---- Gradients ----

// Whether a tensor is several, inside of what torch.vmap maps.
inline bool is_batched(const Tensor& tensor) {
  return tensor.defined() && tensor.key_set().has(c10::DispatchKey::FuncTorchBatched);
}

// Whether a value is of a dtype that can need a gradient.
inline bool differentiable(const Tensor& value) {
  return value.defined() && torch::autograd::isDifferentiableType(value.scalar_type());
}
inline bool differentiable(at::TensorList list) {
  return std::any_of(list.begin(), list.end(), [](const Tensor& each) { return differentiable(each); });
}

// What a gradient has to fit.
struct Like {
  c10::SmallVector<int64_t, 5> sizes;
  at::ScalarType dtype = at::ScalarType::Undefined;

  Like() = default;
  Like(const Tensor& of) : sizes(of.sizes().begin(), of.sizes().end()), dtype(of.scalar_type()) {}
  Like(at::TensorList list, int64_t index) { // of one that is missing, the call that uses it is the error
    const auto at = static_cast<size_t>(place(index, list.size()));
    if (at < list.size()) {
      *this = Like(list[at]);
    }
  }

  std::vector<c10::SymInt> sym_sizes() const {
    return {sizes.begin(), sizes.end()};
  }
};

inline std::vector<Like> likes(at::TensorList list) {
  return std::vector<Like>(list.begin(), list.end());
}

// The gradient of a value, from that of what it was cast to.
inline Tensor cast(const Tensor& grad, at::ScalarType dtype) {
  return (grad.is_complex() && !c10::isComplexType(dtype) ? at::real(grad) : grad).to(dtype);
}

// That of a value that a copy overwrote.
inline Tensor zeros(const Like& like, const Tensor& grad) {
  return at::zeros(like.sizes, grad.options().dtype(like.dtype).layout(at::kStrided));
}

// That of the value of `x[…] = value`. Python fills a value without dimensions in, and the gradient of `fill_` is a sum in
// the dtype of `x`; it copies any other value (copy_to in ATen/TensorIndexing.h).
inline Tensor assigned_gradient(const Tensor& grad, const Like& like) {
  return like.sizes.empty() && grad.dim() > 0 && grad.is_cpu() ? grad.sum() : cast(grad, like.dtype);
}

// The gradient of a value, from one that may be of what the value was broadcast or cast to. The engine does the same
// between two Nodes, and also sums before it casts.
inline Tensor fit(Tensor grad, const Like& like) {
  while (grad.dim() < static_cast<int64_t>(like.sizes.size())) { // of a value of `x[…] = value`
    grad = grad.unsqueeze(0);
  }
  if (grad.sizes() != at::IntArrayRef(like.sizes)) {
    TORCH_CHECK(
        at::is_expandable_to(like.sizes, grad.sizes()),
        "a gradient of shape ",
        grad.sizes(),
        " for a value of shape ",
        at::IntArrayRef(like.sizes));
    grad = at::sum_to(std::move(grad), like.sizes);
  }
  return cast(grad, like.dtype);
}

// Whether no other tensor has the memory of a gradient, so that another one can be added in place, as the engine does
// (can_accumulate_inplace in torch/csrc/autograd/input_buffer.cpp).
inline bool only_ours(const Tensor& grad) {
  return !at::GradMode::is_enabled() && grad.layout() == at::kStrided && !at::isTensorSubclassLike(grad) &&
      !grad._is_zerotensor() && grad.is_non_overlapping_and_dense() && grad.use_count() == 1 && grad.has_storage() &&
      grad.storage().use_count() == 1;
}

// As the engine adds gradients: ATen adds a sparse tensor to a dense one, and not the reverse.
inline Tensor sum_of(const Tensor& one, const Tensor& other) {
  return one.layout() != at::kStrided && other.layout() == at::kStrided ? other + one : one + other;
}

inline void add(Tensor& into, const Tensor& grad, const Like& like) {
  if (grad.defined() && torch::autograd::isDifferentiableType(like.dtype)) {
    Tensor fitting = fit(grad, like);
    if (!into.defined()) {
      into = std::move(fitting);
    } else if (fitting.layout() == at::kStrided && only_ours(into) && !at::isTensorSubclassLike(fitting)) {
      into.add_(fitting);
    } else {
      into = sum_of(into, fitting);
    }
  }
}

// Adds the gradient of a view to that part of a gradient; false if there is none yet, or not in place.
template <class View>
bool add_to_part(Tensor& into, const Tensor& grad, View view) {
  if (!into.defined() || !grad.defined() || !only_ours(into) || grad.layout() != at::kStrided || at::isTensorSubclassLike(grad) ||
      grad.scalar_type() != into.scalar_type()) {
    return false;
  }
  Tensor part = view(into);
  if (part.sizes() != grad.sizes() || !shares_memory(part, into)) { // a reshape may be a copy
    return false;
  }
  part.add_(grad);
  return true;
}

// An item of the gradients of a list, which has so many.
inline Tensor& resized(std::vector<Tensor>& list, size_t length, int64_t index) {
  list.resize(length);
  return list[place(index, length)];
}

inline void add(std::vector<Tensor>& into, size_t length, int64_t index, const Tensor& grad, const Like& like) {
  add(resized(into, length, index), grad, like);
}

// A gradient from outside: the engine has made it fit.
inline void incoming(Tensor& into, const Tensor& grad) {
  if (grad.defined()) {
    into = into.defined() ? sum_of(into, grad) : grad;
  }
}
inline void incoming(std::vector<Tensor>& into, size_t length, int64_t index, const Tensor& grad) {
  incoming(resized(into, length, index), grad);
}

inline bool any_defined(const variable_list& grads) {
  return std::any_of(grads.begin(), grads.end(), [](const Tensor& each) { return each.defined(); });
}

inline variable_list joined(std::initializer_list<at::ArrayRef<Tensor>> lists) {
  variable_list found;
  for (const auto& list : lists) {
    found.insert(found.end(), list.begin(), list.end());
  }
  return found;
}

// Frees values that are not used any more.
template <class... Value>
void drop(Value&... values) {
  ((values = Value()), ...);
}

// Where the gradients of an input of a call go: to that of a tensor, to those of a list, or nowhere.
struct Target {
  Tensor* into = nullptr;
  const Like* like = nullptr;
  size_t count = 1;

  Target() = default;
  Target(Tensor& into, const Like& like) : into(&into), like(&like) {}
  Target(std::vector<Tensor>& list, size_t length, int64_t index, const Like& like)
      : Target(resized(list, length, index), like) {}
  Target(std::vector<Tensor>& list, const std::vector<Like>& likes) : like(likes.data()), count(likes.size()) {
    list.resize(count);
    into = list.data();
  }
  template <class... Of>
  Target(bool needed, Of&&... of) : Target(std::forward<Of>(of)...) {
    into = needed ? into : nullptr;
  }
};

// Adds gradients to those of the inputs of a call, in their order.
inline void distribute(const variable_list& found, std::initializer_list<Target> targets) {
  size_t next = 0;
  for (const Target& target : targets) {
    for (size_t i = 0; i < target.count; ++i, ++next) {
      if (target.into != nullptr) {
        add(target.into[i], found[next], target.like[i]);
      }
    }
  }
}

// The gradients of the results of a call, which are not used any more: tensors and lists of these.
struct Given {
  variable_list grads;

  template <class... Grads>
  Given(Grads&... each) : grads(joined({each...})) {
    drop(each...);
  }
};

// An attribute of a type that arguments are assigned to.
template <class T, class U>
T attribute(const U& value) {
  T assigned;
  assigned = value;
  return assigned;
}

// Calls the formula of a Node where a gradient is given and one is needed. `attributes`: what the Node would have saved,
// which formulas take by reference and do not change.
template <size_t Inputs, class... Attributes>
void apply(
    variable_list (*formula)(variable_list&&, std::array<bool, Inputs>, Attributes...),
    Given given,
    std::array<bool, Inputs> needs,
    std::initializer_list<Target> targets,
    const std::type_identity_t<std::remove_cvref_t<Attributes>>&... attributes) {
  const bool any = std::find(needs.begin(), needs.end(), true) != needs.end();
  if (any && any_defined(given.grads)) {
    distribute(
        formula(std::move(given.grads), needs, const_cast<std::remove_cvref_t<Attributes>&>(attributes)...), targets);
  }
}

// How a tensor lies in memory.
struct Layout {
  c10::SmallVector<int64_t, 5> sizes, strides;

  Layout() = default;
  Layout(const Tensor& of) : sizes(of.sizes().begin(), of.sizes().end()) {
    const auto found = of.is_non_overlapping_and_dense() ? of.strides().vec() : at::empty_like(of).strides().vec();
    strides.assign(found.begin(), found.end());
  }
};

// The gradients of what was scattered, `value` and `base`, from that of the result: what is in the view, and the rest.
template <class View>
void unscatter(Tensor& grad, const Layout& layout, View view, const Target& value, const Target& base) {
  if (!grad.defined()) {
    return;
  }
  Tensor rest = grad.new_empty_strided(layout.sizes, layout.strides).copy_(grad); // batched if the gradient is
  Tensor part = view(rest).clone();
  view(rest).zero_();
  distribute({std::move(part), std::move(rest)}, {value, base});
  drop(grad);
}

inline variable_list sized(variable_list grads, size_t length) {
  grads.resize(length);
  return grads;
}

// The gradient of what a view is made of: the gradient of the view, and zeros where the view has no elements.
template <class View>
Tensor unview(const Tensor& grad, const Like& like, View view) {
  Tensor result = grad.new_empty(like.sizes, grad.options().dtype(like.dtype)); // batched if the gradient is
  const Tensor part = view(result);
  const bool all = part.numel() == result.numel() && part.sizes() == grad.sizes() && grad.layout() == at::kStrided &&
      part.scalar_type() == result.scalar_type() && part.is_non_overlapping_and_dense();
  if (all && part.is_contiguous() && !part.is_conj() && !part.is_neg()) { // its elements, in the same order
    return grad.reshape(like.sizes);
  }
  if (all) {
    part.copy_(grad);
  } else {
    result.zero_();
    part.add_(grad);
  }
  return result;
}

// The same of several views that are made at once: they have each element once, if they have as many.
template <class View>
Tensor unview_list(const std::vector<Tensor>& grads, const Like& like, View view) {
  auto known = std::find_if(grads.begin(), grads.end(), [](const Tensor& each) { return each.defined() && is_batched(each); });
  if (known == grads.end()) {
    known = std::find_if(grads.begin(), grads.end(), [](const Tensor& each) { return each.defined(); });
  }
  if (known == grads.end()) {
    return Tensor();
  }
  Tensor result = known->new_empty(like.sizes, known->options().dtype(like.dtype));
  const variable_list parts = view(result);
  int64_t count = 0;
  for (const auto i : c10::irange(std::min(parts.size(), grads.size()))) {
    count += grads[i].defined() ? parts[i].numel() : 0;
  }
  const bool all = count == result.numel();
  if (!all) {
    result.zero_();
  }
  for (const auto i : c10::irange(grads.size())) {
    if (grads[i].defined()) { // autograd allows no write into one of several views
      const Tensor& part = parts.at(i);
      Tensor one = result.as_strided(part.sizes(), part.strides(), part.storage_offset());
      if (all) {
        one.copy_(grads[i]);
      } else {
        one.add_(grads[i]);
      }
    }
  }
  return result;
}

// Adds the gradient of a view to that of what it is made of.
template <class View>
void add_view(Tensor& into, const Tensor& grad, const Like& like, View view) {
  if (!add_to_part(into, grad, view)) {
    add(into, unview(grad, like, view), like);
  }
}

// The strides of a tensor whose gradient is to have the same; none of a layout without strides.
inline c10::SymIntArrayRef strides_or_error(const Tensor& tensor, std::string_view) {
  return tensor.layout() == at::kStrided ? tensor.sym_strides() : c10::SymIntArrayRef();
}

// The same for batch norm: of an empty batch all gradients are zeros.
template <size_t Inputs, class... Attributes>
void apply_to_batch(
    variable_list (*formula)(variable_list&&, std::array<bool, Inputs>, Attributes...),
    Given given,
    std::array<bool, Inputs> needs,
    std::initializer_list<Target> targets,
    const std::type_identity_t<std::remove_cvref_t<Attributes>>&... attributes) {
  const Tensor& grad = given.grads.front();
  if (!grad.defined() || grad.sym_numel() != 0) {
    return apply(formula, std::move(given), needs, targets, attributes...);
  }
  variable_list found;
  for (const Target& target : targets) {
    const bool is = target.into != nullptr;
    found.push_back(is ? at::zeros(target.like->sizes, grad.options().dtype(target.like->dtype)) : Tensor());
  }
  if (std::find(needs.begin(), needs.end(), true) != needs.end()) {
    distribute(found, targets);
  }
}

// What a kernel of batch norm returns; of an empty batch, which it does not take, an empty tensor, and no statistics.
template <class Call>
auto of_batch(const Tensor& input, Call call) {
  if (input.sym_numel() != 0) {
    return call();
  }
  decltype(call()) found;
  std::apply([&](auto&... each) { ((each = at::empty({0}, input.options())), ...); }, found);
  std::get<0>(found) = at::empty_like(input);
  return found;
}

// What a forward computed, once more: the result of a dropout from its mask, as ATen's kernels multiply, and a batch norm
// of a training step, without an update of statistics.
inline Tensor dropped(const Tensor& input, const Tensor& mask, double p) {
  return input.mul(mask).mul(p == 1 ? 0.0 : 1 / (1 - p));
}
inline Tensor batch_normalized(
    const Tensor& input, const Tensor& weight, const Tensor& bias, double momentum, double eps) {
  return std::get<0>(of_batch(input, [&] {
    return at::_ops::_native_batch_norm_legit_no_stats::call(input, maybe(weight), maybe(bias), true, momentum, eps);
  }));
}

// By the kernel that the device chooses. It needs statistics to update, and those of the model are updated already.
inline Tensor batch_normalized_on_device(
    const Tensor& input, const Tensor& weight, const Tensor& bias, double momentum, double eps) {
  return std::get<0>(of_batch(input, [&] {
    const auto type = weight.defined() ? weight.scalar_type() : at::toOpMathType(input.scalar_type());
    Tensor mean = at::zeros_symint({input.sym_size(1)}, input.options().dtype(type));
    Tensor var = at::zeros_like(mean);
    return at::_ops::_batch_norm_with_update::call(input, maybe(weight), maybe(bias), mean, var, momentum, eps);
  }));
}

// ---- Gradients of operators that are made of others ----

// A tensor as a matrix of its rows, of which there may be none.
inline Tensor rows(const Tensor& tensor) {
  return tensor.dim() == 2 ? tensor : tensor.dim() < 2 ? tensor.unsqueeze(0) : tensor.flatten(0, -2);
}

// Of x @ w.t() + b: what is missing is not asked for.
inline variable_list linear_gradients(
    const Tensor& grad,
    const Tensor& input,
    const Tensor& weight,
    std::array<bool, 3> needs,
    std::array<size_t, 3> dims) {
  variable_list found(3);
  if (needs[0]) {
    found[0] = weight.dim() == 1 ? grad.unsqueeze(-1) * weight.conj() : grad.matmul(weight.conj());
  }
  if (needs[1]) {
    if (dims[1] == 1) {
      found[1] = rows(input).t().conj().mv(grad.reshape({-1}));
    } else {
      found[1] = rows(grad).t().mm(rows(input).conj());
    }
  }
  if (needs[2]) {
    found[2] = grad;
  }
  return found;
}

// Of a product of vectors, matrices and stacks of matrices; a stack that was broadcast is summed when it is made fit.
// `dims`: of those that need a gradient.
inline variable_list matmul_gradients(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& other,
    std::array<bool, 2> needs,
    std::array<size_t, 2> dims) {
  variable_list found(2);
  if (needs[0] && other.dim() == 1) {
    found[0] = grad.unsqueeze(-1) * other.conj();
  } else if (needs[0]) {
    const bool row = dims[0] == 1;
    found[0] = (row ? grad.unsqueeze(-2) : grad).matmul(other.mT().conj());
    found[0] = row ? found[0].squeeze(-2) : found[0];
  }
  if (needs[1] && self.dim() == 1) {
    found[1] = dims[1] == 1 ? self.conj() * grad : self.conj().unsqueeze(-1) * grad.unsqueeze(-2);
  } else if (needs[1] && dims[1] == 1) {
    found[1] = rows(self).t().conj().mv(grad.reshape({-1}));
  } else if (needs[1] && dims[1] == 2 && self.dim() > 2) {
    found[1] = rows(self).t().conj().mm(rows(grad));
  } else if (needs[1]) {
    found[1] = self.mT().conj().matmul(grad);
  }
  return found;
}

// ---- Nodes of the library, run by hand ----

// An edge for each input, valid where a gradient is wanted: a Node asks by these what it is to compute. `needed` leads to
// something that the running backward computes.
inline edge_list edges(std::initializer_list<std::pair<bool, size_t>> wanted, const Edge& needed) {
  edge_list found;
  for (const auto& [is, times] : wanted) {
    found.insert(found.end(), times, is ? needed : Edge());
  }
  return found;
}

// ---- Calls recorded by the library's autograd, for operators that are made of others ----

// Where the history of an input of a recorded call starts. Unlike that of a leaf, it does not keep the tensor.
struct Source final : public torch::autograd::Node {
  std::string name() const override {
    return "gradmill::graph::Source";
  }
  variable_list apply(variable_list&& /*grads*/) override {
    return {};
  }
};

// The history of a call. The tensors that its gradients need are saved in its Nodes, and no others are kept.
struct Recorded {
  edge_list inputs, outputs; // not valid those of tensors that need no gradient
};

// The gradient of an operand of a branch: zeros if the branch that ran has none, as torch.cond gives.
inline Tensor or_zeros(const Tensor& grad, const Like& like, const variable_list& given) {
  if (grad.defined() || !torch::autograd::isDifferentiableType(like.dtype)) {
    return grad;
  }
  const auto known = std::find_if(given.begin(), given.end(), [](const Tensor& each) { return each.defined(); });
  return at::zeros(like.sizes, known->options().dtype(like.dtype));
}

// Whether a result of such a call has a history: result `i`, or any of its list.
inline bool has_history(const Recorded& held, size_t i) {
  return i < held.outputs.size() && held.outputs[i].is_valid();
}
inline bool has_history(const Recorded& held) {
  return std::any_of(held.outputs.begin(), held.outputs.end(), [](const Edge& each) { return each.is_valid(); });
}

inline variable_list flat(Tensor tensor) {
  return {std::move(tensor)};
}
inline variable_list flat(variable_list list) {
  return list;
}
template <class... T>
variable_list flat(std::tuple<T...> results) {
  return std::apply([](auto&... each) { return joined({at::ArrayRef<Tensor>(flat(each))...}); }, results);
}

// The keys to dispatch by, those of autograd among them again.
inline c10::impl::LocalDispatchKeySet autograd_back() {
  auto keys = c10::impl::tls_local_dispatch_key_set();
  keys.excluded_ = keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView;
  return keys;
}

// Calls `call` with `given`. Where one that `needs` says needs a gradient, autograd is made to record it. In a forward
// that autograd records anyway, the history of the call is a part of that of the forward. `overwritten`: which are in
// memory that the graph writes to later; they are copied, for the history may save them. `in_region`: whether the call
// is one in a region of autocast.
template <class Call>
variable_list record(
    Recorded& held,
    variable_list given,
    std::vector<bool> needs,
    Call call,
    const std::vector<bool>& overwritten = {},
    bool in_region = false) {
  const bool again = recording();
  bool any = false;
  for (const auto i : c10::irange(given.size())) {
    needs[i] = needs[i] && differentiable(given[i]);
    any |= needs[i];
  }
  if (!any) {
    return flat(call(given));
  }
  c10::impl::ForceDispatchKeyGuard with_autograd(autograd_back());
  at::AutoGradMode enabled(true);
  held.inputs.resize(given.size());
  for (const auto i : c10::irange(given.size())) {
    if (i < overwritten.size() && overwritten[i]) {
      given[i] = copied(given[i]);
    }
    if (again && given[i].defined()) {
      given[i] = given[i].alias(); // gradients of the call end here, even if one input was made from another
    } else if (needs[i]) {
      const bool is_leaf = in_region && given[i].requires_grad() && given[i].is_leaf() && !given[i].is_view();
      given[i] = bare(given[i]);
      if (is_leaf) { // autocast casts it once
        given[i].set_requires_grad(true);
      } else {
        torch::autograd::set_history(given[i], new_node<Source>());
      }
    }
    if (needs[i] && given[i].requires_grad()) {
      held.inputs[i] = torch::autograd::impl::gradient_edge(given[i]);
    }
  }
  variable_list results = flat(call(given));
  for (Tensor& result : results) {
    const bool is = result.defined() && result.requires_grad();
    held.outputs.push_back(is ? torch::autograd::impl::gradient_edge(result) : Edge());
    if (result.defined() && !again) {
      result = bare(result);
    }
  }
  return results;
}

// The gradients of the recorded inputs, undefined those that were not needed. In a backward that autograd records they
// have histories.
inline variable_list replay(const Recorded& held, const variable_list& grads) {
  edge_list outputs, inputs;
  variable_list given, found(held.inputs.size());
  for (const auto i : c10::irange(held.outputs.size())) {
    if (held.outputs[i].is_valid() && i < grads.size() && grads[i].defined()) {
      outputs.push_back(held.outputs[i]);
      given.push_back(grads[i]);
    }
  }
  std::copy_if(held.inputs.begin(), held.inputs.end(), std::back_inserter(inputs), [](auto& e) { return e.is_valid(); });
  if (outputs.empty() || inputs.empty()) {
    return found;
  }
  c10::impl::ForceDispatchKeyGuard with_autograd(autograd_back());
  const auto gradients = torch::autograd::Engine::get_default_engine().execute(
      outputs, given, /*keep_graph=*/true, at::GradMode::is_enabled(), /*accumulate_grad=*/false, inputs);
  for (size_t i = 0, next = 0; i < found.size(); ++i) {
    if (held.inputs[i].is_valid()) {
      found[i] = gradients[next++];
    }
  }
  return found;
}

// ---- Recorded operators whose histories can be smaller ----

// Whether the library computes attention by products and a softmax, as it does for a device without a kernel for it.
template <class... More>
bool attends_in_parts(const Tensor& query, const More&... more) {
  static const auto choice = c10::Dispatcher::singleton().findSchemaOrThrow("aten::_fused_sdp_choice", "");
  const auto keys = query.key_set() - c10::autograd_dispatch_keyset_with_ADInplaceOrView;
  return !choice.hasKernelForAnyDispatchKey(keys) ||
      at::_ops::_fused_sdp_choice::call(query, more...) == static_cast<int64_t>(at::SDPBackend::math);
}

// Attention with dropout. The library's keeps the numbers that it draws. `native_dropout` draws the same numbers, and
// keeps a byte for each. `grouped`: whether heads share keys, an argument that older releases do not have.
template <class... Grouped>
Tensor attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& mask,
    double p,
    bool causal,
    std::optional<double> scale,
    Grouped... grouped) {
  if (mask.has_value() && mask->dim() > 0 && mask->stride(-1) != 1 && !query.is_cpu()) {
    // No other kernel takes an expanded last dimension, which `torch.export` gives to masks that hide nothing.
    const std::optional<Tensor> dense = mask->clone(at::MemoryFormat::Contiguous);
    return attention(query, key, value, dense, p, causal, scale, grouped...);
  }
  const auto type = query.scalar_type();
  const bool half = type == at::kHalf || type == at::kBFloat16; // computed as float
  const bool wide = type == at::kFloat || type == at::kDouble;
  const bool exact = wide || (half && !at::globalContext().allowFP16BF16ReductionMathSDP());
  const bool known = !mask.has_value() || mask->scalar_type() == at::kBool || mask->scalar_type() == type;
  const bool valid = query.dim() > 1 && key.dim() > 1 && value.dim() > 1; // else the library says what is wrong
  if (!(0 < p && p < 1 && exact && known && valid) ||
      !attends_in_parts(query, key, value, mask, p, causal, scale, grouped...)) {
    return at::_ops::scaled_dot_product_attention::call(query, key, value, mask, p, causal, scale, grouped...);
  }
  std::optional<Tensor> added = mask;
  if (mask.has_value() && mask->scalar_type() == at::kBool) {
    constexpr double never = -std::numeric_limits<double>::infinity();
    added = at::zeros_like(*mask, query.options()).masked_fill_(mask->logical_not(), never);
  }
  const auto cast = [half](const Tensor& each) { return half ? each.to(at::kFloat) : each; };
  Tensor values = cast(value);
  const Tensor none = values.narrow(-1, 0, 0); // only the weights of attention without dropout are used
  const Tensor weights = std::get<1>(at::_scaled_dot_product_attention_math(
      cast(query), cast(key), none, added, 0.0, causal, std::nullopt, scale, grouped...));
  if ((false || ... || grouped)) {
    values = values.repeat_interleave(query.size(-3) / values.size(-3), -3);
  }
  return std::get<0>(at::native_dropout(weights, p, true)).matmul(values).to(type);
}

// ---- Calls of branches and custom operators, which the set does not have ----

// The results of a call. One that shares memory with an input, or with an earlier result, is copied.
inline variable_list apart_from(const variable_list& inputs, variable_list results) {
  for (const auto i : c10::irange(results.size())) {
    results[i] = apart(apart(results[i], inputs), at::TensorList(results).slice(0, i));
  }
  return results;
}

// An argument as the schema's type: a model has no schemas, so an int may stand for a float, an empty list for any.
inline c10::IValue as_type(c10::IValue value, const c10::TypePtr& type) {
  if (const auto optional = type->cast<c10::OptionalType>()) {
    const bool none = value.isNone() || (value.isTensor() && !value.toTensor().defined());
    return none ? c10::IValue() : as_type(std::move(value), optional->getElementType());
  }
  if (type->kind() == c10::TypeKind::FloatType && value.isInt()) {
    return static_cast<double>(value.toInt());
  }
  if (const auto list = type->cast<c10::ListType>()) {
    const c10::TypePtr& element = list->getElementType();
    c10::impl::GenericList items(element);
    for (const c10::IValue& item : value.toList().vec()) {
      items.push_back(as_type(item, element));
    }
    return items;
  }
  return value;
}

// Calls an operator by name, with arguments by name. As in eager, its autograd kernel runs, in any grad mode.
inline variable_list call_custom(
    const char* name, const char* overload, const std::vector<std::pair<std::string_view, c10::IValue>>& given) {
  const auto found = c10::Dispatcher::singleton().findSchema({name, overload});
  TORCH_CHECK(found.has_value(), "the operator ", name, " is not registered: load the library that defines it");
  const auto& schema = found->schema();
  torch::jit::Stack stack;
  size_t used = 0;
  for (const auto& argument : schema.arguments()) {
    TORCH_CHECK(
        argument.alias_info() == nullptr,
        name,
        ": a graph calls custom operators that return new tensors, and this one writes to its argument '",
        argument.name(),
        "', or returns a view of it");
    const auto at = std::find_if(given.begin(), given.end(), [&](auto& each) { return each.first == argument.name(); });
    TORCH_CHECK(
        at != given.end() || argument.default_value().has_value(),
        name,
        ": its schema changed since the export: the argument '",
        argument.name(),
        "' has no value");
    used += at != given.end();
    stack.push_back(at != given.end() ? as_type(at->second, argument.type()) : *argument.default_value());
  }
  TORCH_CHECK(used == given.size(), name, ": its schema changed since the export: it has other arguments, ", schema);
  c10::impl::ForceDispatchKeyGuard with_autograd(autograd_back());
  found->callBoxed(stack);
  variable_list results;
  for (const c10::IValue& value : stack) {
    if (value.isTensorList()) {
      const auto list = value.toTensorVector();
      results.insert(results.end(), list.begin(), list.end());
    } else {
      TORCH_CHECK(value.isTensor(), name, ": it returns something other than tensors");
      results.push_back(value.toTensor());
    }
  }
  return results;
}

// ---- The wrapper ----

inline bool needs_grad(at::TensorList list) {
  return std::any_of(list.begin(), list.end(), [](const Tensor& each) { return each.defined() && each.requires_grad(); });
}

// An input as a list of tensors: itself, or its items. None is an undefined tensor.
struct Tensors {
  at::TensorList list;

  Tensors(const Tensor& tensor) : list(tensor) {}
  Tensors(const std::optional<Tensor>& tensor) : list(tensor.has_value() ? *tensor : none()) {}
  Tensors(at::TensorList list) : list(list) {}

 private:
  static const Tensor& none() {
    static const Tensor undefined;
    return undefined;
  }
};

// Refuses inputs of forward-mode AD, whose tangents would be lost.
inline void check_tangents(const char* graph, std::initializer_list<Tensors> inputs) {
  for (const Tensors& input : inputs) {
    for (const Tensor& tensor : input.list) {
      TORCH_CHECK_NOT_IMPLEMENTED(
          !tensor.defined() || !tensor._fw_grad(/*level=*/0).defined(), graph, ": a graph has no forward-mode AD");
    }
  }
}

// Which inputs that are tensors, or lists of these, need a gradient, in their order. The places after theirs are the
// graph's.
using Needs = c10::SmallVector<bool, 8>;

inline Needs needs_of(const char* graph, std::initializer_list<Tensors> inputs, size_t more = 0) {
  check_tangents(graph, inputs);
  Needs needs(inputs.size() + more);
  if (at::GradMode::is_enabled()) {
    std::transform(inputs.begin(), inputs.end(), needs.begin(), [](const Tensors& input) { return needs_grad(input.list); });
  }
  return needs;
}

// Where the gradients of inputs go.
inline edge_list next_edges(std::initializer_list<Tensors> inputs) {
  edge_list next;
  for (const Tensors& input : inputs) {
    for (const Tensor& tensor : input.list) {
      next.push_back(tensor.defined() ? torch::autograd::impl::gradient_edge(tensor) : Edge());
    }
  }
  return next;
}

inline Tensor some(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? *tensor : Tensor();
}

inline Tensor& mutable_(const Tensor& tensor) {
  return const_cast<Tensor&>(tensor);
}

// Refuses a call under no_grad of a graph that enables gradients itself: whether it saves values is decided before.
inline void check_grad_mode(const char* graph, std::initializer_list<Tensors> inputs) {
  for (const Tensors& input : inputs) {
    TORCH_CHECK(
        at::GradMode::is_enabled() || !needs_grad(input.list),
        graph,
        ": it enables gradients itself: call it with gradients enabled, and write no_grad inside of it");
  }
}

constexpr int64_t ANY = -1; // a size that is known at run time only

// Refuses a tensor of another dtype or other sizes than the graph was specialised to.
inline void check_metadata(
    const char* graph,
    const char* input,
    const Tensor& tensor,
    at::IntArrayRef sizes,
    at::ScalarType dtype) {
  TORCH_CHECK(
      tensor.scalar_type() == dtype,
      graph,
      ": the graph is made for an input '",
      input,
      "' of dtype ",
      dtype,
      ", got ",
      tensor.scalar_type());
  bool same_sizes = tensor.dim() == static_cast<int64_t>(sizes.size());
  for (const auto i : c10::irange(same_sizes ? sizes.size() : 0)) {
    same_sizes = same_sizes && (sizes[i] == ANY || sizes[i] == tensor.size(i));
  }
  TORCH_CHECK(
      same_sizes,
      graph,
      ": the graph is made for an input '",
      input,
      "' of shape ",
      sizes,
      ", got ",
      tensor.sizes());
}

// What a tensor reaches of its memory, in bytes.
struct Extent {
  const void* memory = nullptr; // the same for storages that are aliases; none if the tensor reaches nothing
  int64_t begin = 0, end = 0;

  Extent(const Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage() || tensor.numel() == 0) {
      return;
    }
    const auto& data = tensor.storage().data_ptr();
    const bool shared = data.get_deleter() == &c10::refcounted_deleter;
    memory = shared ? data.get_context() : tensor.storage().unsafeGetStorageImpl();
    const auto size = static_cast<int64_t>(tensor.element_size());
    int64_t last = tensor.storage_offset();
    begin = last * size;
    for (const auto i : c10::irange(tensor.dim())) {
      last += (tensor.size(i) - 1) * tensor.stride(i);
    }
    end = (last + 1) * size;
  }
};

// Whether two tensors may have memory in common: they share a storage, and what they reach of it overlaps.
inline bool overlap(const Extent& a, const Extent& b) {
  return a.memory != nullptr && a.memory == b.memory && a.begin < b.end && b.begin < a.end;
}

// An input, by its name in errors.
struct Input : Tensors {
  const char* name;

  template <class T>
  Input(const char* name, const T& tensors) : Tensors(tensors), name(name) {}
};

// Whether one of the inputs at the places `written` may have memory in common with another input. Sorted by memory and
// begin, each overlaps an earlier one if it begins before the last end so far.
inline bool any_overlap(at::ArrayRef<size_t> written, at::ArrayRef<Input> inputs) {
  struct Reached : Extent {
    bool written;
  };
  std::vector<Reached> reached;
  std::vector<bool> is_written(inputs.size());
  for (const size_t i : written) {
    is_written[i] = true;
  }
  for (const auto i : c10::irange(inputs.size())) {
    for (const Tensor& tensor : inputs[i].list) {
      if (Reached each{tensor, is_written[i]}; each.memory != nullptr) {
        reached.push_back(each);
      }
    }
  }
  std::sort(reached.begin(), reached.end(), [](const Reached& a, const Reached& b) {
    return a.memory != b.memory ? std::less<const void*>()(a.memory, b.memory) : a.begin < b.begin;
  });
  const void* memory = nullptr;
  int64_t end = 0, end_of_written = 0;
  for (const Reached& each : reached) {
    if (each.memory != memory) {
      memory = each.memory;
      end = end_of_written = 0;
    }
    if (each.begin < (each.written ? end : end_of_written)) {
      return true;
    }
    end = std::max(end, each.end);
    end_of_written = each.written ? std::max(end_of_written, each.end) : end_of_written;
  }
  return false;
}

// Refuses inputs that share memory, one of which is written to, where the graph was not made for that. `written`: their
// places among the inputs.
inline void check_apart(
    const char* graph, std::initializer_list<size_t> written, std::initializer_list<Input> inputs) {
  if (!any_overlap(written, inputs)) {
    return;
  }
  for (const size_t i : written) {
    const Input& one = *(inputs.begin() + i);
    for (const Input& other : inputs) {
      for (const Tensor& tensor : other.list) {
        TORCH_CHECK(
            &one == &other || !overlap(one.list[0], tensor),
            graph,
            ": input '",
            one.name,
            "' is written to and shares memory with input '",
            other.name,
            "', which was not declared: declare that they may alias, or pass a clone");
      }
    }
  }
}

// Refuses a list of another length than the graph's list of parameters, buffers or constants.
inline void check_count(const char* graph, const char* list, at::TensorList tensors, size_t count) {
  TORCH_CHECK(tensors.size() == count, graph, ": '", list, "' has ", tensors.size(), " tensors, not ", count);
}

// Whether tensors share memory: each with another one. The same tensor in two places shares memory with itself.
inline bool meet(std::initializer_list<Tensor> tensors) {
  for (const Tensor& one : tensors) {
    bool any = false;
    for (const Tensor& other : tensors) {
      any = any || (&one != &other && overlap(one, other));
    }
    if (!any) {
      return false;
    }
  }
  return true;
}

// Refuses the same tensor in two places where only one of the inputs gets other sizes or strides.
inline void check_distinct(const char* graph, std::initializer_list<Tensor> tensors) {
  for (const Tensor& one : tensors) {
    for (const Tensor& other : tensors) {
      TORCH_CHECK(
          &one == &other || !one.is_same(other),
          graph,
          ": the same tensor is passed for two inputs, and the sizes or strides of one of them are changed in place:"
          " pass a view, x.view_as(x), for the other");
    }
  }
}

// What tensors that share memory are views of: what autograd knows as their base, or all of their memory.
inline Tensor base_of(const char* graph, std::initializer_list<Tensor> tensors) {
  const auto root = [](const Tensor& t) { return t.is_view() ? t._base() : t; };
  const Tensor first = *tensors.begin();
  bool one_root = true, any_grad = false;
  for (const Tensor& tensor : tensors) {
    one_root = one_root && root(tensor).is_same(root(first));
    any_grad = any_grad || tensor.requires_grad();
    TORCH_CHECK(
        tensor.scalar_type() == first.scalar_type(), graph, ": inputs that share memory and differ in dtype");
  }
  if (one_root && root(first).scalar_type() == first.scalar_type() && root(first).is_non_overlapping_and_dense() &&
      root(first).storage_offset() == 0) {
    return root(first);
  }
  TORCH_CHECK(
      !any_grad,
      graph,
      ": inputs that share memory, one of which needs a gradient, must be views of one tensor that fills its storage");
  const auto size = static_cast<int64_t>(first.storage().nbytes() / first.element_size());
  return first.as_strided({size}, {1}, 0);
}

// Whether this runs inside of a function that torch.func transforms.
inline bool transformed() {
  return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
}

// The gradients that a backward gives while another one is to be recorded: whoever differentiates them is told that
// there is no second derivative, and why.
inline variable_list once(
    variable_list grads, const std::string& graph, const std::string& why, torch::autograd::edge_list inputs) {
  if (!at::GradMode::is_enabled()) {
    return grads;
  }
  auto node = new_node<torch::autograd::Error>(
      graph + ": the backward of a graph cannot be differentiated again: " + why, std::move(inputs));
  for (Tensor& grad : grads) {
    if (grad.defined() && !is_batched(grad)) {
      grad = bare(grad);
      torch::autograd::set_history(grad, node);
    }
  }
  return grads;
}

// ---- The Node ----

// What the forward of a graph keeps for its backward.
struct Saved {
  bool last = false; // no other backward will use it
  std::vector<std::pair<c10::VariableVersion, uint32_t>> versions; // of tensors in lists; a SavedVariable has its own

  std::vector<Tensor> watched(std::vector<Tensor> list) {
    for (const Tensor& each : list) {
      if (each.defined() && !each.is_inference()) {
        const auto& version = each.unsafeGetTensorImpl()->version_counter();
        versions.emplace_back(version, version.current_version());
      }
    }
    return list;
  }
  void check(const char* graph) const {
    for (const auto& [version, saved] : versions) {
      TORCH_CHECK(
          version.current_version() == saved,
          "one of the variables needed for gradient computation has been modified by an inplace operation: a tensor of a "
          "list that ",
          graph,
          " saved");
    }
  }
};

// Computes the gradients of the inputs. `saved`: that of its graph. `kept`: the inputs and outputs that the Node keeps.
// `needs`: the inputs that want a gradient; `needed`: an edge of one of them.
using Backward = variable_list (*)(
    const variable_list& grads, Saved& saved, const variable_list& kept, Needs& needs, const Edge& needed);

// The innermost level of the vmap that `is_grads_batched` and `vectorize` use, which is not that of torch.func; or 0.
inline int64_t level_of(const variable_list& grads) {
  int64_t level = 0;
  for (const Tensor& grad : grads) {
    if (const auto* batched = grad.defined() ? at::maybeGetBatchedImpl(grad) : nullptr) {
      for (const at::BatchDim& each : batched->bdims()) {
        level = std::max(level, each.level());
      }
    }
  }
  return level;
}

// A backward for several gradients, one by one: that vmap has no rules for many operators, and copies some views.
template <class Call>
variable_list one_by_one(const variable_list& grads, int64_t level, Call call) {
  const auto is_mapped = [](const Tensor& grad) { return grad.defined() && at::maybeGetBatchedImpl(grad) != nullptr; };
  variable_list every; // of each result: its gradients along a first dimension, of size 1 if it has one at this level
  int64_t count = 1;
  for (const Tensor& grad : grads) {
    every.push_back(is_mapped(grad) ? at::_remove_batch_dim(grad, level, /*batch_size=*/1, /*out_dim=*/0) : grad);
    count = is_mapped(grad) ? std::max(count, every.back().size(0)) : count;
  }
  std::vector<variable_list> found;
  for (const auto i : c10::irange(count)) {
    variable_list given;
    for (const auto j : c10::irange(grads.size())) {
      given.push_back(is_mapped(grads[j]) ? every[j].select(0, every[j].size(0) == 1 ? 0 : i) : grads[j]);
    }
    found.push_back(call(given, i + 1 == count));
  }
  variable_list results(found.at(0).size());
  for (const auto j : c10::irange(results.size())) {
    variable_list parts;
    for (const variable_list& each : found) {
      parts.push_back(each[j]);
    }
    results[j] = parts[0].defined() ? at::addBatchDim(at::stack(parts), level, 0) : Tensor();
  }
  return results;
}

constexpr const char* ONCE = "it was generated without double_backward=1";

// The Node of a graph.
struct GraphNode final : Node {
  // `why`: the reason that gradients cannot be differentiated, or null if autograd recorded the forward.
  GraphNode(
      const char* graph,
      Backward backward,
      std::shared_ptr<Saved> saved,
      std::initializer_list<Tensors> inputs,
      size_t places,
      size_t kept,
      const char* why)
      : graph_(graph), backward_(backward), saved_(std::move(saved)), counts_(places), kept_(kept), why_(why) {
    std::transform(inputs.begin(), inputs.end(), counts_.begin(), [](const Tensors& input) { return input.list.size(); });
    set_next_edges(graph::next_edges(inputs));
  }

  std::string name() const override {
    return std::string(graph_) + "_backward";
  }
  // Keeps an input or an output, and an error if it was written to since.
  void keep(size_t place, const Tensor& tensor, bool is_output = false) {
    kept_[place] = {SavedVariable(tensor, is_output), is_output};
  }
  void will_release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    last_ = true;
  }
  void release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    saved_ = nullptr;
    kept_.clear();
    released_ = true;
  }
  variable_list apply(variable_list&& grads) override {
    std::lock_guard<std::mutex> lock(mutex_);
    TORCH_CHECK(!released_, torch::autograd::ERR_BACKWARD_TWICE);
    saved_->check(graph_);
    released_ = saved_->last = last_;
    const NoAutocast no_autocast;
    Needs needs(counts_.size());
    Edge needed;
    size_t edge = 0;
    for (const auto i : c10::irange(needs.size())) {
      for (const size_t end = edge + counts_[i]; edge < end; ++edge) {
        if (task_should_compute_output(edge)) {
          needs[i] = true;
          needed = next_edge(edge);
        }
      }
    }
    variable_list kept;
    for (const Kept& each : kept_) {
//<2.13       kept.push_back(each.variable.unpack(each.is_output ? shared_from_this() : nullptr));
//>=2.13       kept.push_back(each.variable.unpack(each.is_output ? getptr() : nullptr));
    }
    const auto backward = [&](const variable_list& given) {
      variable_list found;
      if (at::GradMode::is_enabled() && (why_ == nullptr || transformed())) { // torch.func differentiates what is outside
        found = backward_(given, *saved_, kept, needs, needed);
      } else {
        at::AutoDispatchBelowADInplaceOrView below_autograd;
        at::NoGradGuard no_grad;
        found = backward_(given, *saved_, kept, needs, needed);
      }
      return why_ == nullptr ? found : once(std::move(found), graph_, why_, next_edges());
    };
    const int64_t level = level_of(grads);
    return level == 0 ? backward(grads) : one_by_one(grads, level, [&](const variable_list& given, bool last) {
      saved_->last = last && last_;
      return backward(given);
    });
  }

 private:
  struct Kept {
    SavedVariable variable;
    bool is_output = false;
  };

  const char* graph_;
  Backward backward_;
  std::shared_ptr<Saved> saved_;
  std::vector<size_t> counts_; // of the tensors of each input; 0 for places after those
  std::vector<Kept> kept_;
  const char* why_;
  bool last_ = false, released_ = false;
};

// A Node that has what was saved.
template <class Of>
NodePointer<GraphNode> make_node(
    const char* graph,
    Backward backward,
    Of&& saved,
    std::initializer_list<Tensors> inputs,
    size_t places,
    size_t kept,
    const char* why = nullptr) {
  auto shared = std::make_shared<Of>(std::move(saved));
  return new_node<GraphNode>(graph, backward, std::move(shared), inputs, places, kept, why);
}

// Gives `value` the Node as its history where it needs one, and the Node an input for it in any case. A result that may
// be a copy is an earlier one if it is none: the wrapper then makes a view of that.
inline void output(const Tensor& value, const NodePointer<GraphNode>& node, bool needs) {
  const bool again = value.defined() && value.requires_grad() && value.grad_fn() == node;
  if (needs && !again && differentiable(value)) {
    TORCH_INTERNAL_ASSERT(!value.requires_grad(), node->name(), ": a result is an input, or has a history");
    torch::autograd::set_history(value, node);
  } else {
    node->add_input_metadata(Node::undefined_input());
  }
}

} // namespace gradmill::graph

// What the text of graphs names without a namespace.
namespace gradmill::graphs {

using graph::strides_or_error;
using torch::autograd::to_args_scalartypes;
using torch::autograd::to_args_sizes;
using torch::autograd::to_args_sizes_symint;

using at::Tensor;
using at::TensorGeometry;
using torch::autograd::Edge;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

} // namespace gradmill::graphs

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter" // a forward or a backward has parameters that only others use
#endif
