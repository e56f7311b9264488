#pragma once

// For each view of the core spec set: the base again, from a view that looks like the one that was made of it.
// libtorch keeps its own to itself. Ours give views, which is all that the generated kernels ask for.

#include <ATen/ATen.h>
#include <ATen/FunctionalStorageImpl.h>
#include <ATen/WrapDimUtils.h>

#include <vector>

namespace gradmill::core {

// The whole of the base, which the view has the storage of.
inline at::Tensor whole(const at::Tensor& base, const at::Tensor& view) {
  return view.as_strided_symint(base.sym_sizes(), base.sym_strides(), base.sym_storage_offset());
}

} // namespace gradmill::core

// Where the kernels look for these functions.
namespace at::functionalization {

struct FunctionalInverses {
  using Mode = InverseReturnMode;

  static Tensor alias_inverse(const Tensor& /*base*/, const Tensor& view, Mode) {
    return view.alias();
  }

  static Tensor view_inverse(const Tensor& base, const Tensor& view, Mode, SymIntArrayRef) {
    return view.view_symint(base.sym_sizes());
  }

  static Tensor t_inverse(const Tensor& /*base*/, const Tensor& view, Mode) {
    return view.t();
  }

  static Tensor transpose_int_inverse(const Tensor&, const Tensor& view, Mode, int64_t dim0, int64_t dim1) {
    return view.transpose(dim0, dim1);
  }

  static Tensor permute_inverse(const Tensor& base, const Tensor& view, Mode, IntArrayRef dims) {
    std::vector<int64_t> back(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      back[maybe_wrap_dim(dims[i], base.dim())] = static_cast<int64_t>(i);
    }
    return view.permute(back);
  }

  static Tensor squeeze_dim_inverse(const Tensor& base, const Tensor& view, Mode, int64_t dim) {
    return base.dim() == view.dim() ? view.alias() : view.unsqueeze(maybe_wrap_dim(dim, base.dim()));
  }

  static Tensor unsqueeze_inverse(const Tensor& /*base*/, const Tensor& view, Mode, int64_t dim) {
    return view.squeeze(maybe_wrap_dim(dim, view.dim()));
  }

  static Tensor slice_inverse_inverse(
      const Tensor& /*base*/,
      const Tensor& view,
      Mode,
      const Tensor& /*src*/,
      int64_t dim,
      std::optional<c10::SymInt> start,
      std::optional<c10::SymInt> end,
      c10::SymInt step) {
    return view.slice_symint(dim, start, end, step);
  }

  // Views of a part: nothing but the storage has the rest.

  static Tensor as_strided_inverse(
      const Tensor& base,
      const Tensor& view,
      Mode,
      SymIntArrayRef,
      SymIntArrayRef,
      const std::optional<c10::SymInt>&) {
    return gradmill::core::whole(base, view);
  }

  static Tensor diagonal_inverse(const Tensor& base, const Tensor& view, Mode, int64_t, int64_t, int64_t) {
    return gradmill::core::whole(base, view);
  }

  static Tensor expand_inverse(const Tensor& base, const Tensor& view, Mode, SymIntArrayRef, bool) {
    return gradmill::core::whole(base, view);
  }

  static Tensor select_int_inverse(const Tensor& base, const Tensor& view, Mode, int64_t, const c10::SymInt&) {
    return gradmill::core::whole(base, view);
  }

  static Tensor slice_Tensor_inverse(
      const Tensor& base,
      const Tensor& view,
      Mode,
      int64_t,
      const std::optional<c10::SymInt>&,
      const std::optional<c10::SymInt>&,
      const c10::SymInt&) {
    return gradmill::core::whole(base, view);
  }

  static Tensor split_Tensor_inverse(
      const Tensor& base, const Tensor& view, Mode, size_t, const c10::SymInt&, int64_t) {
    return gradmill::core::whole(base, view);
  }

  static Tensor split_with_sizes_inverse(
      const Tensor& base, const Tensor& view, Mode, size_t, SymIntArrayRef, int64_t) {
    return gradmill::core::whole(base, view);
  }

  static Tensor unbind_int_inverse(const Tensor& base, const Tensor& view, Mode, size_t, int64_t) {
    return gradmill::core::whole(base, view);
  }

  static Tensor unfold_inverse(const Tensor& base, const Tensor& view, Mode, int64_t, int64_t, int64_t) {
    return gradmill::core::whole(base, view);
  }
};

} // namespace at::functionalization
