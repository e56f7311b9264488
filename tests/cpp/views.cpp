// The operators `torch.ops.gradmill_views`: torch's own in-place operators, with the core set's Nodes in the graph, and
// with its CopySlices around them where a view is changed.

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <optional>
#include <utility>

#include "Functions.h"
#include "core_copies.h"

namespace gradmill::test {

namespace {

using at::Scalar;
using at::Tensor;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

// The Node of an operator that will change `self`, or none if nothing asks for gradients. The next edges are in the
// order of the tensors.
template <typename Kind, typename... Tensors>
c10::intrusive_ptr<Kind> started(bool differentiable, const Tensor& self, const Tensors&... others) {
  for (const Tensor& tensor : {self, others...}) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !torch::autograd::isFwGradDefined(tensor), "gradmill_views has no forward mode");
  }
  torch::autograd::check_inplace(self, differentiable);
  if (!differentiable) {
    return nullptr;
  }
  auto node = c10::make_intrusive<Kind>();
  node->set_next_edges(torch::autograd::collect_next_edges(self, others...));
  return node;
}

template <typename... Tensors>
bool asked_for(const Tensors&... tensors) {
  return torch::autograd::compute_requires_grad(tensors...);
}

Tensor& mul_(Tensor& self, const Tensor& other) {
  const auto node = started<core::MulBackward0>(asked_for(self, other), self, other);
  if (node) {
    node->self_scalar_type = self.scalar_type();
    node->other_scalar_type = other.scalar_type();
    if (node->should_compute_output(0)) {
      node->other_ = SavedVariable(other, false);
    }
    if (node->should_compute_output(1)) {
      node->self_ = SavedVariable(self.clone(), false);
    }
  }
  {
    const at::AutoDispatchBelowAutograd below;
    self.mul_(other);
  }
  core::rebase_history(self, node);
  return self;
}

Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  const auto node = started<core::AddBackward0>(asked_for(self, other), self, other);
  if (node) {
    node->self_scalar_type = self.scalar_type();
    node->other_scalar_type = other.scalar_type();
    node->alpha = alpha;
  }
  {
    const at::AutoDispatchBelowAutograd below;
    self.add_(other, alpha);
  }
  core::rebase_history(self, node);
  return self;
}

// Of a number, as torch's binding does it: not an overload of its own, but a tensor that does not decide the dtype.
Tensor& mul_number_(Tensor& self, const Scalar& other) {
  return mul_(self, at::native::wrapped_scalar_tensor(other));
}

Tensor& add_number_(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return add_(self, at::native::wrapped_scalar_tensor(other), alpha);
}

Tensor& exp_(Tensor& self) {
  const auto node = started<core::ExpBackward0>(asked_for(self), self);
  {
    const at::AutoDispatchBelowAutograd below;
    self.exp_();
  }
  core::rebase_history(self, node);
  if (node) {
    node->result_ = SavedVariable(self, /*is_output=*/true, /*is_inplace_on_view=*/self.is_view());
  }
  return self;
}

Tensor& sigmoid_(Tensor& self) {
  const auto node = started<core::SigmoidBackward0>(asked_for(self), self);
  {
    const at::AutoDispatchBelowAutograd below;
    self.sigmoid_();
  }
  core::rebase_history(self, node);
  if (node) {
    node->result_ = SavedVariable(self, /*is_output=*/true, /*is_inplace_on_view=*/self.is_view());
  }
  return self;
}

Tensor& zero_(Tensor& self) {
  const auto node = started<core::ZeroBackward0>(asked_for(self), self);
  {
    const at::AutoDispatchBelowAutograd below;
    self.zero_();
  }
  core::rebase_history(self, node);
  return self;
}

// The Node of `fill_`, which gives no gradient at all: an undefined one is a zero.
struct FillBackward0 : public torch::autograd::Node {
  variable_list apply(variable_list&&) override {
    return variable_list(1);
  }
  std::string name() const override {
    return "FillBackward0";
  }
};

Tensor& fill_(Tensor& self, const Scalar& value) {
  const auto node = started<FillBackward0>(asked_for(self), self);
  {
    const at::AutoDispatchBelowAutograd below;
    self.fill_(value);
  }
  core::rebase_history(self, node);
  return self;
}

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  const bool differentiable = asked_for(self, src) && torch::autograd::isDifferentiableType(self.scalar_type());
  const auto node = started<core::CopyBackwards>(differentiable, self, src);
  if (node) {
    node->src_options = src.options();
  }
  {
    const at::AutoDispatchBelowAutograd below;
    self.copy_(src, non_blocking);
  }
  core::rebase_history(self, node);
  return self;
}

} // namespace

TORCH_LIBRARY(gradmill_views, library) {
  library.def("mul_(Tensor(a!) self, Tensor other) -> Tensor(a!)", mul_);
  library.def("add_(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)", add_);
  library.def("mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", mul_number_);
  library.def("add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)", add_number_);
  library.def("exp_(Tensor(a!) self) -> Tensor(a!)", exp_);
  library.def("sigmoid_(Tensor(a!) self) -> Tensor(a!)", sigmoid_);
  library.def("zero_(Tensor(a!) self) -> Tensor(a!)", zero_);
  library.def("fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)", fill_);
  library.def("copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", copy_);
}

} // namespace gradmill::test
