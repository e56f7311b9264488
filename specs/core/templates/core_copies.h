#pragma once

// The two Nodes that no formula can describe, because they are not about an operator but about memory: what an
// operator that works in place leaves behind in the graph.
//
//   CopyBackwards   y.copy_(x): the values of y are gone, those of x are there, in y's dtype and on y's device.
//   CopySlices      an operator changed a view in place: so its base changed, in the elements that the view has.
//
// A library that takes them from here needs torch's `Node`, and neither of torch's own two classes. docs/contributing/views.md
// explains them with an example.
//
// A kernel that changes `self` in place does, in this order:
//
//   1. refuse what autograd forbids (`torch::autograd::check_inplace`);
//   2. make its Node, set its next edges, that of `self` first, and save what backward will need;
//   3. change the values, which increments the version that all views of one memory share;
//   4. `gradmill::core::rebase_history(self, node)`.

#include <ATen/TensorGeometry.h>
#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>

namespace gradmill::core {

// Backward of self.copy_(src). Next edges: self as it was, src.
struct CopyBackwards : public torch::autograd::Node {
  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override;
  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs& args) const override;
  torch::autograd::variable_list apply_with_saved(
      const torch::autograd::variable_list& grads,
      torch::dynamo::autograd::SwapSavedVariables& saved) override;

  // src may differ from self in dtype, device and layout; its gradient goes back in these.
  at::TensorOptions src_options;
};

// Where the elements of a view are among those of its base. It holds no tensor, so it keeps no memory alive, and
// whatever is done to base or view later does not concern it.
class Window {
 public:
  Window(const at::Tensor& base, const at::Tensor& view, std::unique_ptr<torch::autograd::ViewFunc> replay);

  // A copy of t, laid out as the base was.
  at::Tensor laid_out(const at::Tensor& t) const;
  // The view's elements of such a copy, as a view of it.
  at::Tensor of(const at::Tensor& whole) const;

  // The view can be found by its strides alone: compiled autograd knows no other.
  bool is_strided() const {
    return replay_ == nullptr;
  }

  at::TensorGeometry base;
  at::TensorGeometry view;

 private:
  // The chain of views, done again. Only where sizes and strides do not say where elements are: if the view has another
  // dtype than its base, or the device has no strides. Its arguments are values, too.
  std::unique_ptr<torch::autograd::ViewFunc> replay_;
};

// Backward of: take a view of a base, run an operator on it, put the result into the base where the view was.
// Its input is the base's gradient. Next edges: the base as it was, then those of the operator's Node but its first.
struct CopySlices : public torch::autograd::Node {
  CopySlices(const at::Tensor& base, Window window, c10::intrusive_ptr<torch::autograd::Node> node);

  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override;
  void release_variables() override;
  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs& args) const override;
  torch::autograd::variable_list apply_with_saved(
      const torch::autograd::variable_list& grads,
      torch::dynamo::autograd::SwapSavedVariables& saved) override;

  Window window;
  c10::intrusive_ptr<torch::autograd::Node> wrapped; // null once its saved variables were released

 private:
  // A Node computes the gradients that the running backward asks for, which it finds by the Nodes at its next edges.
  // The wrapped Node's first leads to the view as it was, and has to: a result that it saved has the wrapped Node for
  // its grad_fn when it is differentiated again. But the engine goes from the view's new value to the base's old one
  // through us, so nobody may have asked for the view's old Node. It is marked as asked for if our own first edge is;
  // it will not run by that, as it is no part of this backward: if it were, it would be asked for already, on the way
  // to the base.
  void ask_wrapped_as_we_are_asked() const;
};

// Makes `node` the history of `self`, which an operator has just changed in place, and through it that of self's base.
// `node` has no inputs yet, and the edge of `self` is its first. Does nothing if there is no `node`.
void rebase_history(const at::Tensor& self, c10::intrusive_ptr<torch::autograd::Node> node);

} // namespace gradmill::core
