#pragma once

// What formulas call without a namespace, for the backward functions of graphs: what libtorch exports, and, under the
// names of the helpers that it keeps to itself, gradmill's own. pipeline/gradmill/extensions/graphs/helpers.py lists these.

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorGeometry.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/irange.h>
#include <torch/csrc/autograd/FunctionsManual.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace torch::autograd {

// Zeros like the tensor that was described. libtorch declares this, and keeps its own to itself.
inline at::Tensor TypeAndSize::zeros() {
  return at::zeros_symint(sym_sizes, options);
}

namespace generated {
using torch::autograd::TypeAndSize;
}

} // namespace torch::autograd

namespace gradmill::formulas {

using at::ArrayRef;
using at::GradMode;
using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::TensorGeometry;
using at::TensorList;
using c10::SymInt;
using c10::SymIntArrayRef;
using torch::autograd::variable_list;
using torch::autograd::generated::details::any_variable_defined;
using torch::autograd::generated::details::apply_loss_reduction;
using torch::autograd::generated::details::copy_range;
using torch::autograd::generated::details::copysign_tensor_self_backward;
using torch::autograd::generated::details::IndexRangeGenerator;
using torch::autograd::generated::details::not_implemented;
using torch::autograd::generated::details::not_implemented_list;
using torch::autograd::generated::details::wrap_opt_if;

// ---- Numbers ----

// The gradient of a real value is real.
inline Tensor handle_r_to_c(ScalarType type, Tensor grad) {
  return grad.is_complex() && !at::isComplexType(type) ? at::real(grad) : grad;
}

inline Tensor maybe_multiply(const Tensor& grad, const Scalar& factor) {
  return !factor.isBoolean() && factor.equal(1) ? grad : grad * factor;
}

// ---- Products and quotients; `other` is a tensor or a number ----

template <class Other>
Tensor mul_tensor_backward(const Tensor& grad, const Other& other, ScalarType type) {
  return handle_r_to_c(type, grad * other.conj());
}

// A rounded quotient is constant almost everywhere.
template <class Other>
Tensor div_tensor_self_backward(
    const Tensor& grad,
    const Other& other,
    ScalarType type,
    const std::optional<std::string_view>& rounding = std::nullopt) {
  if (rounding.has_value()) {
    return at::zeros_like(grad, grad.options().dtype(type));
  }
  return handle_r_to_c(type, grad / other.conj());
}

inline Tensor div_tensor_other_backward(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& other,
    const std::optional<std::string_view>& rounding = std::nullopt) {
  if (rounding.has_value()) {
    return at::zeros_like(grad, grad.options().dtype(other.scalar_type()));
  }
  return handle_r_to_c(other.scalar_type(), -grad * ((self / other) / other).conj());
}

// Whether a matrix lies in memory column by column.
inline bool by_columns(SymIntArrayRef sizes, SymIntArrayRef strides) {
  return strides.size() == 2 && strides[0] == 1 && strides[1] == sizes[0];
}

// Of the gradients of a product of matrices, each lies in memory as its matrix does.
inline Tensor mm_mat1_backward(
    const Tensor& grad,
    const Tensor& mat2,
    SymIntArrayRef sizes,
    SymIntArrayRef strides,
    c10::Layout,
    const Scalar& alpha) {
  const Tensor found = by_columns(sizes, strides) ? mat2.conj().mm(grad.t()).t() : grad.mm(mat2.t().conj());
  return maybe_multiply(found, alpha.conj());
}

inline Tensor mm_mat2_backward(
    const Tensor& grad,
    const Tensor& mat1,
    SymIntArrayRef sizes,
    SymIntArrayRef strides,
    c10::Layout,
    const Scalar& alpha) {
  const Tensor found = by_columns(sizes, strides) ? grad.t().mm(mat1.conj()).t() : mat1.t().conj().mm(grad);
  return maybe_multiply(found, alpha.conj());
}

// ---- Powers ----

inline Scalar one_less(const Scalar& number) {
  if (number.isComplex()) {
    return number.toComplexDouble() - 1.0;
  }
  return number.isFloatingPoint() ? Scalar(number.toDouble() - 1.0) : Scalar(number.toLong() - 1);
}

inline Tensor pow_backward(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (exponent.equal(0.0)) {
    return at::zeros_like(self);
  }
  return handle_r_to_c(self.scalar_type(), grad * (self.pow(one_less(exponent)) * exponent).conj());
}

inline Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor found = grad * (exponent * self.pow(exponent - 1)).conj();
  return handle_r_to_c(self.scalar_type(), at::where(exponent == 0.0, at::zeros({}, found.options()), found));
}

// Zero to a power that is not negative is zero, whatever the power is.
inline Tensor is_not_negative(const Tensor& exponent) {
  return exponent.is_complex() ? at::imag(exponent).eq(0).logical_and(at::real(exponent).ge(0)) : exponent.ge(0);
}

// The logarithm is that of the base as `pow` computes with it: complex, or with the exponent's precision.
inline Tensor pow_backward_exponent(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& exponent,
    const Tensor& result) {
  const Tensor found = (result * self.to(at::result_type(self, exponent)).log()).conj();
  const Tensor constant = self.eq(0).logical_and(is_not_negative(exponent));
  return handle_r_to_c(exponent.scalar_type(), grad * at::where(constant, at::zeros({}, found.options()), found));
}

inline Tensor pow_backward_exponent(
    const Tensor& grad,
    const Scalar& base,
    const Tensor& exponent,
    const Tensor& result) {
  Tensor found = (result * (exponent.is_complex() ? Scalar(base.toComplexDouble()) : base).log()).conj();
  if (base.equal(0.0)) {
    found = at::where(is_not_negative(exponent), at::zeros({}, found.options()), found);
  }
  return handle_r_to_c(exponent.scalar_type(), grad * found);
}

inline Tensor log1p_backward(const Tensor& grad, const Tensor& self) {
  return grad / (self + 1).conj();
}

// ---- Sums ----

// The dimensions that were summed over; of none all were.
inline std::vector<int64_t> summed(at::OptionalIntArrayRef dims, size_t count) {
  std::vector<int64_t> found;
  for (const auto dim : c10::irange(static_cast<int64_t>(count))) {
    const auto is = [&](int64_t each) { return at::maybe_wrap_dim(each, static_cast<int64_t>(count)) == dim; };
    if (!dims.has_value() || dims->empty() || std::any_of(dims->begin(), dims->end(), is)) {
      found.push_back(dim);
    }
  }
  return found;
}

inline Tensor sum_backward(const Tensor& grad, SymIntArrayRef sizes, at::OptionalIntArrayRef dims, bool keepdim) {
  Tensor found = grad;
  if (!keepdim) {
    for (const auto dim : summed(dims, sizes.size())) {
      found = found.unsqueeze(dim);
    }
  }
  return found.expand_symint(sizes);
}
inline Tensor sum_backward(const Tensor& grad, SymIntArrayRef sizes, IntArrayRef dims, bool keepdim) {
  return sum_backward(grad, sizes, at::OptionalIntArrayRef(dims), keepdim);
}

inline Tensor mean_backward(
    const Tensor& grad,
    SymIntArrayRef sizes,
    at::OptionalIntArrayRef dims,
    const SymInt&,
    bool keepdim) {
  SymInt count = 1;
  for (const auto dim : summed(dims, sizes.size())) {
    count *= sizes[dim];
  }
  return sum_backward(grad, sizes, dims, keepdim) / count;
}

inline Tensor cumsum_backward(const Tensor& grad, int64_t dim) {
  return grad.numel() < 2 || grad.size(dim) == 1 ? grad : grad.flip(dim).cumsum(dim).flip(dim);
}

// ---- What is selected by a value ----

// All elements that have the value of the result get an equal part.
inline Tensor evenly_distribute_backward(const Tensor& grad, const Tensor& input, const Tensor& value) {
  const Tensor chosen = input.eq(value).logical_or(input.isnan().logical_and(value.isnan()));
  return at::zeros_like(input).masked_fill(chosen, grad / chosen.sum());
}

inline Tensor masked_fill_backward(const Tensor& grad, const Tensor& mask) {
  return grad.masked_select(mask).sum();
}

inline Tensor clamp_backward(
    const Tensor& grad,
    const Tensor& self,
    const std::optional<Scalar>& min,
    const std::optional<Scalar>& max) {
  Tensor found = grad;
  if (min.has_value()) {
    found = found.masked_fill(self.ge(*min).logical_not_(), 0);
  }
  return max.has_value() ? found.masked_fill(self.le(*max).logical_not_(), 0) : found;
}

// ---- Views and copies ----

// `self` with the dimensions of size 1 again that were taken out: all, or of those that are named.
inline Tensor unsqueeze_to(const Tensor& self, SymIntArrayRef sizes) {
  Tensor found = self;
  for (const auto dim : c10::irange(sizes.size())) {
    if (sizes[dim] == 1) {
      found = found.unsqueeze(static_cast<int64_t>(dim));
    }
  }
  return found;
}
inline Tensor unsqueeze_to(const Tensor& self, IntArrayRef dims, SymIntArrayRef sizes) {
  Tensor found = self;
  if (!dims.empty()) {
    for (const auto dim : summed(dims, sizes.size())) {
      found = sizes[dim] == 1 ? found.unsqueeze(dim) : found;
    }
  }
  return found;
}
inline Tensor unsqueeze_to(const Tensor& self, int64_t dim, SymIntArrayRef sizes) {
  return unsqueeze_to(self, IntArrayRef(dim), sizes);
}

inline Tensor permute_backwards(const Tensor& grad, IntArrayRef dims) {
  std::vector<int64_t> back(dims.size());
  for (const auto i : c10::irange(dims.size())) {
    back[at::maybe_wrap_dim(dims[i], static_cast<int64_t>(dims.size()))] = static_cast<int64_t>(i);
  }
  return grad.permute(back);
}

inline Tensor slice_backward_wrapper(
    const Tensor& grad,
    SymIntArrayRef sizes,
    int64_t dim,
    const std::optional<SymInt>& start,
    const std::optional<SymInt>& end,
    const SymInt& step) {
  const SymInt last = end.value_or(std::numeric_limits<int64_t>::max());
  return at::slice_backward_symint(grad, sizes, dim, start.value_or(0), last, step);
}

// Each dimension is taken apart into times and size, and the times are summed.
inline Tensor repeat_backward(const Tensor& grad, SymIntArrayRef repeats, SymIntArrayRef sizes) {
  std::vector<SymInt> apart;
  std::vector<int64_t> times;
  const size_t added = repeats.size() - sizes.size();
  for (const auto i : c10::irange(repeats.size())) {
    times.push_back(static_cast<int64_t>(apart.size()));
    apart.push_back(repeats[i]);
    apart.push_back(i < added ? SymInt(1) : sizes[i - added]);
  }
  return times.empty() ? grad : grad.reshape_symint(apart).sum(times).reshape_symint(sizes);
}

inline std::vector<Tensor> cat_tensors_backward(
    const Tensor& grad,
    const std::vector<std::vector<SymInt>>& sizes,
    const std::vector<ScalarType>& types,
    int64_t dim) {
  std::vector<Tensor> found(sizes.size());
  if (!grad.defined()) {
    return found;
  }
  dim = at::maybe_wrap_dim(dim, grad.dim());
  SymInt start = 0;
  for (const auto i : c10::irange(sizes.size())) {
    if (sizes[i].size() == 1 && sizes[i][0] == 0) { // joins whatever shape the others have
      found[i] = at::zeros({0}, grad.options());
    } else {
      found[i] = handle_r_to_c(types[i], grad.narrow_symint(dim, start, sizes[i][dim]));
      start += sizes[i][dim];
    }
  }
  return found;
}

inline std::vector<Tensor> stack_tensors_backward(
    const Tensor& grad,
    int64_t dim,
    const std::vector<ScalarType>& types) {
  std::vector<Tensor> found(types.size());
  for (size_t i = 0; grad.defined() && i < types.size(); ++i) {
    found[i] = handle_r_to_c(types[i], grad.select(dim, static_cast<int64_t>(i)));
  }
  return found;
}

// Views of several at once: what has no gradient gets zeros.
inline Tensor unbind_backward(const variable_list& grads, int64_t dim) {
  const auto known = std::find_if(grads.begin(), grads.end(), [](const Tensor& each) { return each.defined(); });
  if (known == grads.end()) {
    return Tensor();
  }
  std::vector<Tensor> found = grads;
  for (Tensor& each : found) {
    each = each.defined() ? each : at::zeros({}, known->options()).expand_symint(known->sym_sizes());
  }
  return at::stack(found, dim);
}

inline Tensor split_with_sizes_backward(
    const variable_list& grads,
    SymIntArrayRef parts,
    int64_t dim,
    SymIntArrayRef sizes,
    const at::TensorOptions& options) {
  dim = at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  std::vector<Tensor> found = grads;
  for (const auto i : c10::irange(found.size())) {
    if (!found[i].defined()) {
      std::vector<SymInt> part = sizes.vec();
      part[dim] = parts[i];
      found[i] = at::zeros_symint(part, options);
    }
  }
  return at::cat(found, dim);
}

inline Tensor split_backward(
    const variable_list& grads,
    const SymInt& part,
    int64_t dim,
    SymIntArrayRef sizes,
    const at::TensorOptions& options) {
  std::vector<SymInt> parts(grads.size(), part);
  if (!parts.empty()) { // the last one is what is left
    const auto whole = sizes[at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()))];
    parts.back() = whole - part * static_cast<int64_t>(parts.size() - 1);
  }
  return split_with_sizes_backward(grads, parts, dim, sizes, options);
}

inline Tensor index_backward(
    Tensor zeros,
    const c10::List<std::optional<Tensor>>& indices,
    const Tensor& grad) {
  if (at::areAnyTensorSubclassLike({zeros, grad})) { // as vmap needs it
    return zeros.index_put(indices, grad, /*accumulate=*/true);
  }
  return at::_index_put_impl_(zeros, indices, grad, /*accumulate=*/true, /*unsafe=*/true);
}

} // namespace gradmill::formulas
