#pragma once

// Small building blocks for the formulas in derivatives.yaml. They call public ATen operators only.

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorGeometry.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/core/Reduction.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/irange.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace torch::autograd {

// Zeros like the tensor that was described. libtorch declares this, and keeps its own to itself.
inline at::Tensor TypeAndSize::zeros() {
  return at::zeros_symint(sym_sizes, options);
}

} // namespace torch::autograd

namespace gradmill::core {

using at::Scalar;
using at::ScalarType;
using at::Tensor;
using c10::SymInt;
using c10::SymIntArrayRef;

// ---- Numbers and domains ----

// True for the plain numbers 1, 1.0 and 1 + 0i.
inline bool is_one(const Scalar& s) {
  return s.isBoolean() ? s.toBool() : s.equal(1);
}

// t * s, without a multiplication when s is one.
inline Tensor times(const Tensor& t, const Scalar& s) {
  return is_one(s) ? t : t * s;
}

// 1 - s.
inline Scalar one_minus(const Scalar& s) {
  if (s.isComplex()) {
    return Scalar(1.0 - s.toComplexDouble());
  }
  return Scalar(1.0 - s.toDouble());
}

// s - 1, an integer if s is one.
inline Scalar less_one(const Scalar& s) {
  if (s.isComplex()) {
    return Scalar(s.toComplexDouble() - 1.0);
  }
  return s.isFloatingPoint() ? Scalar(s.toDouble() - 1.0) : Scalar(s.toLong() - 1);
}

// The zero that broadcasts against t.
inline Tensor zero_for(const Tensor& t) {
  return at::zeros({}, t.options());
}

// What a real operand receives from a complex cotangent: its real part.
inline Tensor match_domain(ScalarType operand, const Tensor& g) {
  return g.is_complex() && !at::isComplexType(operand) ? at::real(g) : g;
}

// Each element with its sign changed.
inline std::vector<SymInt> negated(SymIntArrayRef values) {
  std::vector<SymInt> out;
  out.reserve(values.size());
  for (const SymInt& v : values) {
    out.push_back(-v);
  }
  return out;
}

// A copy without the conjugate bit, unless the operand had the bit itself.
inline Tensor with_conj_bit(const Tensor& t, bool operand_has_it) {
  return operand_has_it ? t : t.resolve_conj();
}

// Back to the dtype, device and layout of the operand that was converted.
inline Tensor cast_back(const Tensor& g, const at::TensorOptions& operand) {
  const auto dtype = c10::typeMetaToScalarType(operand.dtype());
  return match_domain(dtype, g).to(operand, /*non_blocking=*/false, /*copy=*/false);
}

// ---- Quotients and powers ----

// Cotangent of b in a / b.
inline Tensor denominator_adjoint(const Tensor& g, const Tensor& a, const Tensor& b) {
  return match_domain(b.scalar_type(), -g * ((a / b) / b).conj());
}

// Cotangent of b in a / b, rounded or not. A rounded quotient is constant almost everywhere.
inline Tensor denominator_adjoint(
    const Tensor& g,
    const Tensor& a,
    const Tensor& b,
    std::optional<std::string_view> rounding) {
  return rounding.has_value() ? at::zeros_like(g) : denominator_adjoint(g, a, b);
}

// Cotangent of a in a / b, rounded or not.
inline Tensor numerator_adjoint(
    const Tensor& g,
    const Tensor& b,
    std::optional<std::string_view> rounding) {
  return rounding.has_value() ? at::zeros_like(g) : g / b.conj();
}

// Cotangent of the base of a power whose index is a number.
inline Tensor power_base_adjoint(const Tensor& g, const Tensor& base, const Scalar& index) {
  if (!index.isBoolean() && index.equal(0)) {
    return at::zeros_like(base);
  }
  return match_domain(base.scalar_type(), g * times(base.pow(less_one(index)), index).conj());
}

// Cotangent of the base of a power whose index is a tensor.
inline Tensor power_base_adjoint(const Tensor& g, const Tensor& base, const Tensor& index) {
  const Tensor d = g * (index * base.pow(index - 1)).conj();
  return match_domain(base.scalar_type(), at::where(index == 0, zero_for(d), d));
}

// Cotangent of the index of a power. Zero to a power that is real and not negative is constant in it. The logarithm is
// that of the base in the dtype of the power.
inline Tensor power_index_adjoint(
    const Tensor& g,
    const Tensor& base,
    const Tensor& index,
    const Tensor& power) {
  Tensor flat = at::logical_and(base == 0, at::real(index) >= 0);
  if (index.is_complex()) {
    flat = at::logical_and(flat, at::imag(index) == 0);
  }
  const Tensor d = (power * base.to(power.scalar_type()).log()).conj();
  return match_domain(index.scalar_type(), g * at::where(flat, zero_for(d), d));
}

// The same, for a base that is a number.
inline Tensor power_index_adjoint(
    const Tensor& g,
    const Scalar& base,
    const Tensor& index,
    const Tensor& power) {
  return power_index_adjoint(g, at::full({}, base, power.options()), index, power);
}

// Cotangents of y and x in atan2(y, x). At the origin both are zero.
inline std::tuple<Tensor, Tensor> angle_adjoint(
    const Tensor& g,
    const Tensor& y,
    const Tensor& x,
    std::array<bool, 2> wanted) {
  const Tensor radius = x * x + y * y, inverse = radius.reciprocal();
  const auto part = [&](const Tensor& of) { return (g * of * inverse).masked_fill(radius == 0, 0); };
  return {wanted[0] ? part(x) : Tensor(), wanted[1] ? -part(y) : Tensor()};
}

// ---- Limits ----

// g where low <= x <= high, and zero elsewhere.
inline Tensor keep_inside(
    const Tensor& g,
    const Tensor& x,
    const std::optional<Scalar>& low,
    const std::optional<Scalar>& high) {
  Tensor kept = g;
  if (low.has_value()) {
    kept = at::where(x >= *low, kept, zero_for(g));
  }
  if (high.has_value()) {
    kept = at::where(x <= *high, kept, zero_for(g));
  }
  return kept;
}

// The same, for limits that are tensors, each of which may be undefined.
inline Tensor keep_inside(
    const Tensor& g,
    const Tensor& x,
    const Tensor& low,
    const Tensor& high) {
  Tensor kept = g;
  if (low.defined()) {
    kept = at::where(x >= low, kept, zero_for(g));
  }
  if (high.defined()) {
    kept = at::where(x <= high, kept, zero_for(g));
  }
  return kept;
}

// True where clamp() returns its lower limit rather than x.
inline Tensor low_is_active(const Tensor& x, const Tensor& low, const Tensor& high) {
  const Tensor below = x < low;
  return high.defined() ? at::logical_and(below, low < high) : below;
}

// True where clamp() returns its upper limit rather than x.
inline Tensor high_is_active(const Tensor& x, const Tensor& low, const Tensor& high) {
  const Tensor above = x > high;
  return low.defined() ? at::logical_or(above, high < low) : above;
}

// Cotangents of the lower and the upper limit of clamp().
inline std::tuple<Tensor, Tensor> keep_outside(
    const Tensor& g,
    const Tensor& x,
    const Tensor& low,
    const Tensor& high,
    std::array<bool, 2> wanted) {
  Tensor at_low, at_high;
  if (wanted[0] && low.defined()) {
    at_low = at::where(low_is_active(x, low, high), g, zero_for(g));
  }
  if (wanted[1] && high.defined()) {
    at_high = at::where(high_is_active(x, low, high), g, zero_for(g));
  }
  return {at_low, at_high};
}

// The tangent of clamp(): that of the value which it returns. Where x equals a limit, that of x if there are two limits,
// and that of the limit if there is one, as in libtorch.
inline Tensor clamp_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& low,
    const Tensor& low_t,
    const Tensor& high,
    const Tensor& high_t) {
  if (low.defined() && high.defined()) {
    return at::where(high_is_active(x, low, high), high_t, at::where(x < low, low_t, x_t));
  }
  return low.defined() ? at::where(x > low, x_t, low_t) : at::where(x < high, x_t, high_t);
}

// ---- Reductions ----

// The reduced dimensions of t back in place, with size one.
inline Tensor restore_reduced(
    Tensor t,
    int64_t ndim,
    at::OptionalIntArrayRef dims,
    bool kept) {
  if (kept || ndim == 0 || !dims.has_value() || dims->empty()) {
    return t;
  }
  const auto reduced = at::dim_list_to_bitset(*dims, static_cast<size_t>(ndim));
  for (const auto d : c10::irange(ndim)) {
    if (reduced[d]) {
      t = t.unsqueeze(d);
    }
  }
  return t;
}

// Cotangent of a sum: g, repeated over the dimensions that were summed.
inline Tensor spread(
    const Tensor& g,
    SymIntArrayRef sizes,
    at::OptionalIntArrayRef dims,
    bool kept) {
  const auto ndim = static_cast<int64_t>(sizes.size());
  return restore_reduced(g, ndim, dims, kept).expand_symint(sizes);
}

// How many elements go into one element of a reduction.
inline SymInt reduced_count(SymIntArrayRef sizes, at::OptionalIntArrayRef dims) {
  SymInt count = 1;
  if (!dims.has_value() || dims->empty()) {
    for (const SymInt& size : sizes) {
      count *= size;
    }
    return count;
  }
  if (!sizes.empty()) {
    const auto reduced = at::dim_list_to_bitset(*dims, sizes.size());
    for (const auto d : c10::irange(sizes.size())) {
      if (reduced[d]) {
        count *= sizes[d];
      }
    }
  }
  return count;
}

// For each element of x the product of all the others, right for zeros too.
inline Tensor product_of_rest(const Tensor& x) {
  if (x.sym_numel() == 0) {
    return at::ones_like(x);
  }
  const Tensor flat = x.reshape({-1});
  const Tensor one = at::ones({1}, x.options());
  const Tensor before = at::cat({one, flat.slice(0, 0, -1)}).cumprod(0);
  const Tensor after = at::cat({one, flat.flip(0).slice(0, 0, -1)}).cumprod(0).flip(0);
  return (before * after).reshape_symint(x.sym_sizes());
}

// x minus its mean over dims, times 2 / (count - correction).
inline Tensor scaled_deviation(
    const Tensor& x,
    at::OptionalIntArrayRef dims,
    const std::optional<Scalar>& correction) {
  const bool all = !dims.has_value() || dims->empty();
  const double count = static_cast<double>(
      reduced_count(x.sym_sizes(), dims).guard_int(__FILE__, __LINE__));
  const double freedom = std::max(0.0, count - correction.value_or(1).toDouble());
  const Tensor mean = all ? x.mean() : x.mean(*dims, /*keepdim=*/true);
  return (x - mean) * (2.0 / freedom);
}

// Cotangent of a variance.
inline Tensor variance_adjoint(
    const Tensor& g,
    const Tensor& x,
    at::OptionalIntArrayRef dims,
    const std::optional<Scalar>& correction,
    bool kept) {
  return restore_reduced(g, x.dim(), dims, kept) * scaled_deviation(x, dims, correction);
}

// Cotangent of a variance and a mean, either of which may be undefined.
inline Tensor variance_and_mean_adjoint(
    const Tensor& g_variance,
    const Tensor& g_mean,
    const Tensor& x,
    at::OptionalIntArrayRef dims,
    const std::optional<Scalar>& correction,
    bool kept) {
  Tensor total;
  if (g_variance.defined()) {
    total = variance_adjoint(g_variance, x, dims, correction, kept);
  }
  if (g_mean.defined()) {
    const Tensor share =
        spread(g_mean, x.sym_sizes(), dims, kept) / reduced_count(x.sym_sizes(), dims);
    total = total.defined() ? total + share : share;
  }
  return total;
}

// Tangent of a variance.
inline Tensor variance_tangent(
    const Tensor& x,
    const Tensor& x_t,
    at::OptionalIntArrayRef dims,
    const std::optional<Scalar>& correction,
    bool kept) {
  return at::real(at::sum(scaled_deviation(x, dims, correction).conj() * x_t, dims, kept));
}

// The weights that logsumexp gives to the elements of x.
inline Tensor softmax_weights(
    const Tensor& x,
    const Tensor& lse,
    at::IntArrayRef dims,
    bool kept) {
  const Tensor top = restore_reduced(lse, x.dim(), dims, kept);
  const Tensor none = at::logical_and(at::isinf(top), at::real(top) < 0); // of elements that are all -inf
  return (x - at::where(none, zero_for(top), top)).exp();
}

// Cotangent of logsumexp.
inline Tensor logsumexp_adjoint(
    const Tensor& g,
    const Tensor& x,
    const Tensor& lse,
    at::IntArrayRef dims,
    bool kept) {
  return restore_reduced(g, x.dim(), dims, kept) * softmax_weights(x, lse, dims, kept).conj();
}

// Tangent of logsumexp.
inline Tensor logsumexp_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& lse,
    at::IntArrayRef dims,
    bool kept) {
  return at::sum(softmax_weights(x, lse, dims, kept) * x_t, dims, kept);
}

// Equal shares, that add up to one, for the elements of x that are the extremum.
inline Tensor extremum_shares(
    const Tensor& x,
    const Tensor& extremum,
    at::OptionalIntArrayRef dims,
    bool kept) {
  const Tensor found = restore_reduced(extremum, x.dim(), dims, kept);
  const Tensor hits = (x == found).to(x.scalar_type());
  const bool all = !dims.has_value() || dims->empty();
  return hits / (all ? hits.sum() : hits.sum(*dims, /*keepdim=*/true));
}

// Cotangent of amax or amin.
inline Tensor extremum_adjoint(
    const Tensor& g,
    const Tensor& x,
    const Tensor& extremum,
    at::OptionalIntArrayRef dims,
    bool kept) {
  return restore_reduced(g, x.dim(), dims, kept) * extremum_shares(x, extremum, dims, kept);
}

// Tangent of amax or amin.
inline Tensor extremum_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& extremum,
    at::OptionalIntArrayRef dims,
    bool kept) {
  return at::sum(extremum_shares(x, extremum, dims, kept) * x_t, dims, kept);
}

// An optional dimension as an optional list of one.
inline std::optional<std::vector<int64_t>> as_dims(std::optional<int64_t> dim) {
  return dim.has_value() ? std::optional(std::vector<int64_t>{*dim}) : std::nullopt;
}

// A list of dimensions as the argument type of ATen; the list must outlive it.
inline at::OptionalIntArrayRef view_of(const std::optional<std::vector<int64_t>>& dims) {
  return dims.has_value() ? at::OptionalIntArrayRef(at::IntArrayRef(*dims)) : std::nullopt;
}

// Cotangent of aminmax; either of its two may be undefined.
inline Tensor both_extrema_adjoint(
    const Tensor& g_low,
    const Tensor& g_high,
    const Tensor& x,
    const Tensor& low,
    const Tensor& high,
    std::optional<int64_t> dim,
    bool kept) {
  const auto dims = as_dims(dim);
  Tensor total;
  if (g_low.defined()) {
    total = extremum_adjoint(g_low, x, low, view_of(dims), kept);
  }
  if (g_high.defined()) {
    const Tensor part = extremum_adjoint(g_high, x, high, view_of(dims), kept);
    total = total.defined() ? total + part : part;
  }
  return total;
}

// Tangent of one of the two outputs of aminmax.
inline Tensor one_extremum_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& extremum,
    std::optional<int64_t> dim,
    bool kept) {
  const auto dims = as_dims(dim);
  return extremum_tangent(x, x_t, extremum, view_of(dims), kept);
}

// A copy of the elements of t that a reduction along dim selected.
inline Tensor pick(const Tensor& t, int64_t dim, const Tensor& indices, bool kept) {
  if (t.dim() == 0) {
    return t.clone();
  }
  return kept ? t.gather(dim, indices) : t.gather(dim, indices.unsqueeze(dim)).squeeze(dim);
}

// Running sums from the far end of dim.
inline Tensor suffix_sum(const Tensor& g, int64_t dim) {
  return g.dim() == 0 ? g : g.flip(dim).cumsum(dim).flip(dim);
}

// The result of a loss whose elements were averaged if the reduction says so.
inline Tensor averaged(const Tensor& g, int64_t reduction, int64_t count) {
  return reduction == at::Reduction::Mean ? g / count : g;
}

// ---- Matrix products ----

// The strides of an operand, whatever its name; of a layout that has none, an empty list.
inline SymIntArrayRef strides_or_error(const Tensor& t, std::string_view /*name*/) {
  return t.layout() == at::kStrided ? t.sym_strides() : SymIntArrayRef();
}

// True for a strided matrix that is stored column by column.
inline bool is_column_major(SymIntArrayRef sizes, SymIntArrayRef strides, at::Layout layout) {
  return layout == at::kStrided && sizes.size() == 2 && strides.size() == 2 &&
      strides[0] == 1 && strides[1] == sizes[0] && sizes[0] != 1;
}

// Cotangent of a in a @ b, stored as a was.
inline Tensor left_factor_adjoint(
    const Tensor& g,
    const Tensor& b,
    SymIntArrayRef a_sizes,
    SymIntArrayRef a_strides,
    at::Layout a_layout) {
  return is_column_major(a_sizes, a_strides, a_layout) ? b.conj().mm(g.t()).t()
                                                       : g.mm(b.t().conj());
}

// Cotangent of b in a @ b, stored as b was.
inline Tensor right_factor_adjoint(
    const Tensor& g,
    const Tensor& a,
    SymIntArrayRef b_sizes,
    SymIntArrayRef b_strides,
    at::Layout b_layout) {
  return is_column_major(b_sizes, b_strides, b_layout) ? g.t().mm(a.conj()).t()
                                                       : a.t().conj().mm(g);
}

// Cotangent of the input of a linear layer.
inline Tensor linear_input_adjoint(const Tensor& g, const Tensor& weight) {
  return weight.dim() == 1 ? g.unsqueeze(-1) * weight.conj() : g.matmul(weight.conj());
}

// Cotangent of the weight of a linear layer that has as many inputs as said.
inline Tensor linear_weight_adjoint(const Tensor& g, const Tensor& x, const SymInt& inputs) {
  const Tensor rows = x.reshape_symint({-1, inputs}).conj();
  if (g.dim() < x.dim()) {
    return g.reshape({-1}).unsqueeze(0).mm(rows).squeeze(0);
  }
  return g.reshape_symint({-1, g.sym_size(-1)}).t().mm(rows);
}

// The factors of a chain product as matrices: a leading vector is a row, a trailing one a column.
inline std::vector<Tensor> as_matrices(at::TensorList factors) {
  std::vector<Tensor> out = factors.vec();
  if (!out.empty() && out.front().dim() == 1) {
    out.front() = out.front().unsqueeze(0);
  }
  if (out.size() > 1 && out.back().dim() == 1) {
    out.back() = out.back().unsqueeze(1);
  }
  return out;
}

// Cotangents of the factors of a chain product.
inline std::vector<Tensor> chain_adjoint(const Tensor& g, at::TensorList factors) {
  std::vector<Tensor> out(factors.size());
  if (!g.defined()) {
    return out;
  }
  const std::vector<Tensor> m = as_matrices(factors);
  Tensor left = g.reshape_symint({m.front().sym_size(0), m.back().sym_size(1)});
  for (const auto k : c10::irange(m.size())) {
    Tensor d = left;
    for (size_t j = m.size() - 1; j > k; --j) {
      d = d.mm(m[j].t().conj());
    }
    out[k] = d.reshape_symint(factors[k].sym_sizes());
    left = m[k].t().conj().mm(left);
  }
  return out;
}

// ---- Forward mode for lists ----

// The primal of an element of a list.
inline Tensor primal_of(const Tensor& t) {
  return torch::autograd::generated::details::toNonOptPrimal(t);
}

// The tangent of an element of a list, zeros if it has none.
inline Tensor tangent_of(const Tensor& t) {
  const Tensor found = torch::autograd::generated::details::toNonOptFwGrad(t);
  return found.defined() ? found : at::zeros_like(primal_of(t));
}

// Whether an element of a list has a tangent. Formulas over lists are asked whether any has or not.
template <typename List>
bool any_tangent(const List& list) {
  for (const Tensor& t : list) {
    if (torch::autograd::isFwGradDefined(t)) {
      return true;
    }
  }
  return false;
}

// The tangents of a list.
template <typename List>
std::vector<Tensor> tangents_of(const List& list) {
  std::vector<Tensor> out;
  out.reserve(list.size());
  for (const Tensor& t : list) {
    out.push_back(tangent_of(t));
  }
  return out;
}

// Tangent of a chain product: the sum over its factors, each replaced by its tangent. Undefined if none has one.
inline Tensor chain_tangent(at::TensorList factors) {
  if (!any_tangent(factors)) {
    return Tensor();
  }
  std::vector<Tensor> primals;
  primals.reserve(factors.size());
  for (const Tensor& t : factors) {
    primals.push_back(primal_of(t));
  }
  Tensor total;
  for (const auto k : c10::irange(factors.size())) {
    std::vector<Tensor> swapped = primals;
    swapped[k] = tangent_of(factors[k]);
    const Tensor part = at::linalg_multi_dot(swapped);
    total = total.defined() ? total + part : part;
  }
  return total;
}

// Tangent of cat, undefined if no member has one.
inline Tensor cat_tangent(const at::ITensorListRef& list, int64_t dim) {
  return any_tangent(list) ? at::cat(tangents_of(list), dim) : Tensor();
}

// Tangent of stack, undefined if no member has one.
inline Tensor stack_tangent(at::TensorList list, int64_t dim) {
  return any_tangent(list) ? at::stack(tangents_of(list), dim) : Tensor();
}

// Tangent of block_diag, undefined if no member has one.
inline Tensor block_diag_tangent(at::TensorList list) {
  return any_tangent(list) ? at::block_diag(tangents_of(list)) : Tensor();
}

// ---- Views and layouts ----

// g summed over whatever broadcasting added to sizes.
inline Tensor reduce_to(const Tensor& g, SymIntArrayRef sizes) {
  return at::sum_to(g, sizes);
}

// Undoes permute(dims).
inline Tensor permute_back(const Tensor& g, at::IntArrayRef dims) {
  const auto ndim = static_cast<int64_t>(dims.size());
  std::vector<int64_t> inverse(dims.size());
  for (const auto i : c10::irange(ndim)) {
    inverse[at::maybe_wrap_dim(dims[i], ndim)] = i;
  }
  return g.permute(inverse);
}

// Zeros of the given sizes, with g in the place that a slice was taken from.
inline Tensor unslice(
    const Tensor& g,
    SymIntArrayRef sizes,
    int64_t dim,
    const std::optional<SymInt>& start,
    const std::optional<SymInt>& end,
    const SymInt& step) {
  const int64_t d = at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  return at::slice_backward_symint(
      g, sizes, d, start.value_or(SymInt(0)), end.value_or(sizes[d]), step);
}

// Undoes a split into pieces of the given sizes; an undefined piece counts as zeros.
inline Tensor join_pieces(
    const std::vector<Tensor>& pieces,
    SymIntArrayRef piece_sizes,
    int64_t dim,
    SymIntArrayRef sizes,
    const at::TensorOptions& options) {
  const int64_t d = at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  std::vector<Tensor> all = pieces;
  for (const auto i : c10::irange(all.size())) {
    if (!all[i].defined()) {
      std::vector<SymInt> shape = sizes.vec();
      shape[d] = piece_sizes[i];
      all[i] = at::zeros_symint(shape, options);
    }
  }
  return at::cat(all, d);
}

// The same, for pieces of one size, of which the last may be shorter.
inline Tensor join_pieces(
    const std::vector<Tensor>& pieces,
    const SymInt& piece_size,
    int64_t dim,
    SymIntArrayRef sizes,
    const at::TensorOptions& options) {
  const int64_t d = at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  std::vector<SymInt> piece_sizes(pieces.size(), piece_size);
  if (!pieces.empty()) {
    piece_sizes.back() = sizes[d] - piece_size * SymInt(static_cast<int64_t>(pieces.size()) - 1);
  }
  return join_pieces(pieces, piece_sizes, dim, sizes, options);
}

// Undoes unbind; an undefined slice counts as zeros.
inline Tensor stack_slices(
    const std::vector<Tensor>& slices,
    int64_t dim,
    SymIntArrayRef sizes,
    const at::TensorOptions& options) {
  const int64_t d = at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  if (slices.empty()) {
    return at::zeros_symint(sizes, options);
  }
  std::vector<SymInt> shape = sizes.vec();
  shape.erase(shape.begin() + d);
  std::vector<Tensor> all = slices;
  for (Tensor& slice : all) {
    if (!slice.defined()) {
      slice = at::zeros_symint(shape, options);
    }
  }
  return at::stack(all, d);
}

// How many elements of storage a strided view reaches from its first one on.
inline int64_t reach(at::IntArrayRef sizes, at::IntArrayRef strides) {
  int64_t last = 0;
  for (const auto d : c10::irange(sizes.size())) {
    if (sizes[d] == 0) {
      return 0;
    }
    last += (sizes[d] - 1) * strides[d];
  }
  return last + 1;
}

// Plain integers from symbolic ones.
inline std::vector<int64_t> guarded(SymIntArrayRef values) {
  std::vector<int64_t> out;
  out.reserve(values.size());
  for (const SymInt& v : values) {
    out.push_back(v.guard_int(__FILE__, __LINE__));
  }
  return out;
}

// Cotangent of as_strided: adds g up in storage order, then reads it the way the operand is laid
// out. Elements of the operand that share a place in storage share what arrives there.
inline Tensor restride(
    const Tensor& g,
    const at::TensorGeometry& operand,
    SymIntArrayRef size,
    SymIntArrayRef stride,
    const std::optional<SymInt>& storage_offset) {
  const auto in_sizes = guarded(operand.sym_sizes());
  const auto in_strides = guarded(operand.sym_strides());
  const auto out_sizes = guarded(size);
  const auto out_strides = guarded(stride);
  const int64_t in_start = operand.sym_storage_offset().guard_int(__FILE__, __LINE__);
  const int64_t out_start =
      storage_offset.has_value() ? storage_offset->guard_int(__FILE__, __LINE__) : in_start;
  const int64_t base = std::min(in_start, out_start);
  const int64_t length = std::max(
      {in_start - base + reach(in_sizes, in_strides),
       out_start - base + reach(out_sizes, out_strides),
       static_cast<int64_t>(1)});
  const Tensor places = at::arange(length, g.options().dtype(at::kLong));
  const Tensor in_places = places.as_strided(in_sizes, in_strides, in_start - base).reshape({-1});
  const Tensor out_places =
      places.as_strided(out_sizes, out_strides, out_start - base).reshape({-1});
  const Tensor storage = at::zeros({length}, g.options()).index_add(0, out_places, g.reshape({-1}));
  const auto real = g.options().dtype(c10::toRealValueType(g.scalar_type()));
  const Tensor sharers =
      at::zeros({length}, real).index_add(0, in_places, at::ones({in_places.numel()}, real));
  return (storage / sharers.clamp_min(1)).index_select(0, in_places).reshape(in_sizes);
}

// g in the layout of the operand that was converted.
inline Tensor to_layout(const Tensor& g, at::Layout layout, at::OptionalSymIntArrayRef blocks) {
  if (g.layout() == layout) {
    return g;
  }
  if (layout == at::kStrided) {
    return g.to_dense();
  }
  if (!blocks.has_value()) {
    return g.to_sparse(layout);
  }
  const std::vector<int64_t> sizes = guarded(*blocks);
  return g.to_sparse(layout, at::IntArrayRef(sizes));
}

// ---- Joining and rearranging ----

// Cotangents of the members of a cat. The old empty one-dimensional member takes part in none.
inline std::vector<Tensor> cut_along(
    const Tensor& g,
    const std::vector<std::vector<SymInt>>& sizes,
    const std::vector<ScalarType>& dtypes,
    int64_t dim) {
  std::vector<Tensor> out(sizes.size());
  if (!g.defined()) {
    return out;
  }
  const int64_t d = at::maybe_wrap_dim(dim, g.dim());
  SymInt begin = 0;
  for (const auto i : c10::irange(sizes.size())) {
    if (sizes[i].size() == 1 && sizes[i][0] == 0) {
      out[i] = match_domain(dtypes[i], at::zeros({0}, g.options()));
      continue;
    }
    const SymInt end = begin + sizes[i][d];
    out[i] = match_domain(dtypes[i], g.slice_symint(d, begin, end));
    begin = end;
  }
  return out;
}

// Cotangents of the members of a stack.
inline std::vector<Tensor> unstack(
    const Tensor& g,
    const std::vector<ScalarType>& dtypes,
    int64_t dim) {
  std::vector<Tensor> out(dtypes.size());
  if (!g.defined()) {
    return out;
  }
  for (const auto i : c10::irange(dtypes.size())) {
    out[i] = match_domain(dtypes[i], g.select(dim, static_cast<int64_t>(i)));
  }
  return out;
}

// Cotangents of the members of a block diagonal matrix.
inline std::vector<Tensor> cut_blocks(
    const Tensor& g,
    const std::vector<std::vector<int64_t>>& sizes,
    const std::vector<ScalarType>& dtypes) {
  std::vector<Tensor> out(sizes.size());
  if (!g.defined()) {
    return out;
  }
  int64_t row = 0;
  int64_t column = 0;
  for (const auto i : c10::irange(sizes.size())) {
    const auto ndim = sizes[i].size();
    const int64_t rows = ndim == 2 ? sizes[i][0] : 1;
    const int64_t columns = ndim == 0 ? 1 : sizes[i].back();
    const Tensor block = g.narrow(0, row, rows).narrow(1, column, columns);
    out[i] = match_domain(dtypes[i], block.reshape(sizes[i]));
    row += rows;
    column += columns;
  }
  return out;
}

// Cotangent of repeat: the sum over all the copies.
inline Tensor fold_repeats(const Tensor& g, SymIntArrayRef repeats, SymIntArrayRef sizes) {
  const size_t added = repeats.size() - sizes.size();
  std::vector<SymInt> shape;
  std::vector<int64_t> copies;
  for (const auto i : c10::irange(repeats.size())) {
    if (repeats[i] == 0) {
      return at::zeros_symint(sizes, g.options());
    }
    copies.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(repeats[i]);
    shape.push_back(i < added ? SymInt(1) : sizes[i - added]);
  }
  if (copies.empty()) {
    return g;
  }
  return g.reshape_symint(shape).sum(copies).reshape_symint(sizes);
}

// ---- Activations, dropout and losses ----

// Cotangent of x * sigmoid(x).
inline Tensor silu_adjoint(const Tensor& g, const Tensor& x) {
  const Tensor s = x.sigmoid();
  return g * (s * (x * (1 - s) + 1)).conj();
}

// What dropout multiplies the surviving elements by.
inline double dropout_scale(double p, const std::optional<bool>& train) {
  if (train.has_value() && !*train) {
    return 1.0;
  }
  return p == 1.0 ? 0.0 : 1.0 / (1.0 - p);
}

// Cotangent of the target of a binary cross entropy.
inline Tensor cross_entropy_adjoint(
    const Tensor& g,
    const Tensor& x,
    const Tensor& target,
    const Tensor& weight,
    int64_t reduction) {
  Tensor d = g * ((1 - x).log() - x.log());
  if (weight.defined()) {
    d = d * weight;
  }
  return averaged(d, reduction, target.numel());
}

// What the tangents of the input and of the target of a binary cross entropy make of each of its elements.
inline Tensor cross_entropy_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& target,
    const Tensor& target_t,
    const std::optional<Tensor>& weight) {
  constexpr int64_t each = at::Reduction::None;
  return at::binary_cross_entropy_backward(x_t, x, target, weight, each) +
      cross_entropy_adjoint(target_t, x, target, weight.value_or(Tensor()), each);
}

// Cotangent of the input of an upsampling to the nearest neighbour that was given either a size or
// a factor.
inline Tensor upsample1d_adjoint(
    const Tensor& g,
    SymIntArrayRef sizes,
    at::OptionalSymIntArrayRef output_size,
    std::optional<at::ArrayRef<double>> factors) {
  std::optional<double> factor;
  SymInt length = g.sym_size(-1);
  if (output_size.has_value()) {
    length = (*output_size)[0];
  } else if (factors.has_value()) {
    factor = (*factors)[0];
  }
  return at::upsample_nearest1d_backward_symint(g, {length}, sizes, factor);
}

// ---- Normalization ----

// weight * x + bias, of the right shape: the tangent, for x that is normalized. What is undefined counts as absent.
inline Tensor affine_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& weight,
    const Tensor& weight_t,
    const Tensor& bias_t) {
  Tensor total = weight.defined() ? x_t * weight : x_t;
  if (weight_t.defined()) {
    total = total + x * weight_t;
  }
  return bias_t.defined() ? total + bias_t : total;
}

// Tangent of x less its mean and over its deviation, each along dims; x is normalized already.
inline Tensor normalized_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& inverse_deviation,
    at::IntArrayRef dims) {
  const Tensor share = (x * x_t).mean(dims, /*keepdim=*/true);
  return (x_t - x_t.mean(dims, /*keepdim=*/true) - x * share) * inverse_deviation;
}

// Tangent of a layer norm over the last `count` dimensions.
inline Tensor layer_norm_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    const Tensor& mean,
    const Tensor& inverse_deviation,
    size_t count) {
  std::vector<int64_t> dims(count);
  std::iota(dims.begin(), dims.end(), -static_cast<int64_t>(count));
  const Tensor normal = (x - mean) * inverse_deviation;
  const Tensor normal_t = normalized_tangent(normal, x_t, inverse_deviation, dims);
  return affine_tangent(normal, normal_t, weight, weight_t, bias_t);
}

// A value for each channel, in the shape that broadcasts against x. Undefined stays so.
inline Tensor by_channel(const Tensor& values, const Tensor& x) {
  if (!values.defined()) {
    return values;
  }
  std::vector<int64_t> shape(x.dim(), 1);
  shape[1] = -1;
  return values.reshape(shape);
}

// Tangent of a batch norm, over all dimensions but the channels.
inline Tensor batch_norm_tangent(
    const Tensor& x,
    const Tensor& x_t,
    const Tensor& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    const std::optional<Tensor>& running_mean,
    const std::optional<Tensor>& running_var,
    const Tensor& saved_mean,
    const Tensor& saved_inverse,
    bool training,
    double epsilon) {
  std::vector<int64_t> dims;
  for (const auto d : c10::irange(x.dim())) {
    if (d != 1) {
      dims.push_back(d);
    }
  }
  const Tensor mean = by_channel(training ? saved_mean : *running_mean, x);
  const Tensor inverse = by_channel(training ? saved_inverse : (*running_var + epsilon).rsqrt(), x);
  const Tensor normal = (x - mean) * inverse;
  const Tensor normal_t = training ? normalized_tangent(normal, x_t, inverse, dims) : x_t * inverse;
  return affine_tangent(
      normal, normal_t, by_channel(weight, x), by_channel(weight_t, x), by_channel(bias_t, x));
}

// ---- Convolution ----

// What a convolution was called with, beside tensors.
struct Convolution {
  SymIntArrayRef stride;
  SymIntArrayRef padding;
  SymIntArrayRef dilation;
  bool transposed;
  SymIntArrayRef output_padding;
  SymInt groups;

  Tensor operator()(const Tensor& x, const Tensor& weight) const {
    return at::convolution_symint(
        x, weight, std::nullopt, stride, padding, dilation, transposed, output_padding, groups);
  }
};

// Cotangent of the input; x gives the shape.
inline Tensor input_adjoint(
    const Tensor& g,
    const Tensor& x,
    const Tensor& weight,
    const Convolution& c) {
  return std::get<0>(at::convolution_backward_symint(
      g, x, weight, std::nullopt, c.stride, c.padding, c.dilation, c.transposed, c.output_padding,
      c.groups, {true, false, false}));
}

// Cotangent of the weight, which gives the shape.
inline Tensor weight_adjoint(
    const Tensor& g,
    const Tensor& x,
    const Tensor& weight,
    const Convolution& c) {
  return std::get<1>(at::convolution_backward_symint(
      g, x, weight, std::nullopt, c.stride, c.padding, c.dilation, c.transposed, c.output_padding,
      c.groups, {false, true, false}));
}

// Cotangent of the bias: g, summed over all dimensions but the channels.
inline Tensor bias_adjoint(const Tensor& g) {
  return g.transpose(0, 1).flatten(1).sum(1);
}

// The sum of what is defined.
inline Tensor plus(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? a + b : a.defined() ? a : b;
}

// Cotangents of g, x and weight in the backward pass of a convolution, which is linear in each of the three. Those of
// its three results come first; each may be undefined.
inline std::tuple<Tensor, Tensor, Tensor> convolution_second_adjoint(
    const Tensor& of_x,
    const Tensor& of_weight,
    const Tensor& of_bias,
    const Tensor& g,
    const Tensor& x,
    const Tensor& weight,
    const Convolution& c,
    std::array<bool, 3> wanted) {
  Tensor to_g, to_x, to_weight;
  if (wanted[0] && of_x.defined()) {
    to_g = c(of_x, weight);
  }
  if (wanted[0] && of_weight.defined()) {
    to_g = plus(to_g, c(x, of_weight));
  }
  if (wanted[0] && of_bias.defined()) {
    to_g = plus(to_g, by_channel(of_bias, g).expand_symint(g.sym_sizes()));
  }
  if (wanted[1] && of_weight.defined()) {
    to_x = input_adjoint(g, x, of_weight, c);
  }
  if (wanted[2] && of_x.defined()) {
    to_weight = weight_adjoint(g, of_x, weight, c);
  }
  return {to_g, to_x, to_weight};
}

} // namespace gradmill::core
