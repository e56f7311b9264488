#include "core_copies.h"

#include <ATen/ATen.h>
#include <c10/core/impl/PyInterpreter.h>
#include <c10/core/impl/PyInterpreterHooks.h>
#include <c10/util/irange.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

#include <array>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gradmill::core {

using at::Tensor;
using at::TensorOptions;
using torch::autograd::AutogradMeta;
using torch::autograd::DifferentiableViewMeta;
using torch::autograd::Edge;
using torch::autograd::InputMetadata;
using torch::autograd::ivalue_list;
using torch::autograd::Node;
using torch::autograd::variable_list;
using torch::autograd::ViewFunc;
using torch::dynamo::autograd::CompiledNodeArgs;
using torch::dynamo::autograd::getPyCompilerInterface;
using torch::dynamo::autograd::IValuePacker;
using torch::dynamo::autograd::PackedArgs;
using torch::dynamo::autograd::SwapSavedVariables;
namespace impl = torch::autograd::impl;

// ---- CopyBackwards ----

namespace {

using Needed = std::array<bool, 2>; // self as it was, src

// Nothing of self is left, so its gradient is zero. That of src is the incoming one, and where src was broadcast the
// engine sums it, as it knows the size of what src was.
variable_list copy_adjoint(const Tensor& grad, Needed needed, const TensorOptions& src_options) {
  if (!grad.defined()) {
    return variable_list(2);
  }
  Tensor self;
  Tensor src;
  if (needed[0]) {
    self = at::zeros_like(grad);
  }
  if (needed[1]) {
    // A real src became a complex number whose imaginary part is constant.
    const bool drop_imaginary = grad.is_complex() && !at::isComplexType(src_options.dtype().toScalarType());
    src = (drop_imaginary ? at::real(grad) : grad).to(src_options);
  }
  return {std::move(self), std::move(src)};
}

variable_list copy_adjoint_of_packed(const variable_list& grads, const ivalue_list& packed) {
  PackedArgs args(packed);
  const Needed needed = args.unpack<Needed>();
  return copy_adjoint(grads.at(0), needed, args.unpack<TensorOptions>());
}

} // namespace

variable_list CopyBackwards::apply(variable_list&& grads) {
  const Needed needed = {task_should_compute_output(0), task_should_compute_output(1)};
  return copy_adjoint(grads.at(0), needed, src_options);
}

void CopyBackwards::compiled_args(CompiledNodeArgs& args) const {
  args.collect(src_options);
}

variable_list CopyBackwards::apply_with_saved(const variable_list& grads, SwapSavedVariables& saved) {
  const auto& compiler = getPyCompilerInterface();
  static const std::string bound = compiler->bind_function(
      saved.get_py_compiler(),
      name(),
      copy_adjoint_of_packed,
      {IValuePacker<Needed>::packed_type(), IValuePacker<TensorOptions>::packed_type()});
  PackedArgs args;
  args.pack(Needed{task_should_compute_output(0), task_should_compute_output(1)});
  args.pack(src_options);
  using Metadata = std::vector<std::optional<InputMetadata>>;
  return compiler->call_function(
      saved.get_py_compiler(),
      "apply_functional",
      bound,
      grads,
      args.vec(),
      IValuePacker<Metadata>::pack(torch::dynamo::autograd::get_input_metadata(next_edges())));
}

// ---- Window ----

Window::Window(const Tensor& base, const Tensor& view, std::unique_ptr<ViewFunc> replay)
    : base(base), view(view), replay_(std::move(replay)) {}

Tensor Window::laid_out(const Tensor& t) const {
  Tensor whole = t.new_empty_strided_symint(base.sym_sizes(), base.sym_strides());
  whole.copy_(t);
  return whole;
}

Tensor Window::of(const Tensor& whole) const {
  if (replay_ != nullptr) {
    return (*replay_)(whole);
  }
  // Both offsets count from the start of one storage, and `whole` begins where the base did.
  return whole.as_strided_symint(
      view.sym_sizes(), view.sym_strides(), view.sym_storage_offset() - base.sym_storage_offset());
}

// ---- CopySlices ----

CopySlices::CopySlices(const Tensor& base, Window window, c10::intrusive_ptr<Node> node)
    : window(std::move(window)), wrapped(std::move(node)) {
  TORCH_INTERNAL_ASSERT(wrapped->num_outputs() > 0, wrapped->name(), " has no edge for what it changed in place");
  add_input_metadata(base);
  add_next_edge(impl::gradient_edge(base));
  for (const auto i : c10::irange(1, wrapped->num_outputs())) {
    add_next_edge(wrapped->next_edge(i));
  }
  TORCH_INTERNAL_ASSERT(
      wrapped->next_edge(0).is_valid() == next_edge(0).is_valid(),
      wrapped->name(), " starts at a view that asks for a gradient, or not, where its base does the opposite");
}

void CopySlices::ask_wrapped_as_we_are_asked() const {
  using Asked = std::unordered_map<Node*, torch::autograd::GraphTask::ExecInfo>;
  // A null pointer, or no entries, mean that everything is asked for.
  auto* const asked = const_cast<Asked*>(torch::autograd::get_current_graph_task_exec_info());
  if (asked != nullptr && !asked->empty() && task_should_compute_output(0)) {
    (*asked)[wrapped->next_edge(0).function.get()].needed_ = true;
  }
}

variable_list CopySlices::apply(variable_list&& grads) {
  variable_list out(num_outputs());
  if (!grads.at(0).defined()) {
    return out;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (wrapped == nullptr) {
    throw std::runtime_error(torch::autograd::ERR_BACKWARD_TWICE);
  }
  // The incoming gradient may be seen by others, so it is not written to. Neither is what the wrapped Node gets: to be
  // differentiated again, it may save it.
  Tensor whole = window.laid_out(grads[0]);
  const Tensor part = window.of(whole);
  ask_wrapped_as_we_are_asked();
  variable_list passed = (*wrapped)({part.clone(at::MemoryFormat::Contiguous)});
  for (const auto i : c10::irange(1, out.size())) {
    if (i < passed.size() && task_should_compute_output(i)) {
      out[i] = std::move(passed[i]);
    }
  }
  if (task_should_compute_output(0)) {
    // An undefined gradient is zero: of the view's elements, while the others keep theirs.
    if (!passed.empty() && passed[0].defined()) {
      part.copy_(passed[0]);
    } else {
      part.zero_();
    }
    out[0] = std::move(whole);
  }
  return out;
}

void CopySlices::release_variables() {
  const std::lock_guard<std::mutex> lock(mutex_);
  wrapped.reset();
}

void CopySlices::compiled_args(CompiledNodeArgs& args) const {
  TORCH_CHECK_NOT_IMPLEMENTED(
      window.is_strided(), name(), ": compiled autograd finds the elements of a view by its strides only");
  if (wrapped == nullptr) {
    throw std::runtime_error(torch::autograd::ERR_BACKWARD_TWICE);
  }
  args.collect(window.base);
  args.collect(window.view);
  // Two operators may have saved the same things: their names tell them apart.
  args.collect(wrapped->name());
  wrapped->compiled_args(args);
}

variable_list CopySlices::apply_with_saved(const variable_list& grads, SwapSavedVariables& saved) {
  if (!grads.at(0).defined()) {
    return variable_list(num_outputs());
  }
  saved.before(window.base);
  saved.before(window.view);
  PyObject* const tracer = saved.get_py_compiler();
  const auto& compiler = getPyCompilerInterface();
  const variable_list begun = compiler->call_copy_slices_prologue(tracer, grads, window.base, window.view);
  const auto& [whole, part, for_wrapped] = std::tie(begun.at(0), begun.at(1), begun.at(2));
  ask_wrapped_as_we_are_asked();
  const variable_list passed = wrapped->apply_with_saved({for_wrapped}, saved);
  std::vector<bool> needed;
  for (const auto i : c10::irange(num_outputs())) {
    needed.push_back(task_should_compute_output(i));
  }
  variable_list out = compiler->call_copy_slices_epilogue(tracer, needed, whole, passed, part);
  saved.after(window.base);
  saved.after(window.view);
  return out;
}

// ---- Histories ----

namespace {

// Takes a tensor's hooks from it: they are about the value that it had when they were set, and stay with the Node
// that made it. Only a retained gradient is one of whatever the tensor is in the end, so its hook goes; true
// if there was one.
bool without_hooks(const Tensor& tensor, const Edge& made_by) {
  AutogradMeta& meta = *impl::get_autograd_meta(tensor);
  meta.cpp_hooks_list_ = nullptr;
  if (const c10::impl::PyInterpreter* python = c10::impl::getGlobalPyInterpreter()) {
    (*python)->reset_backward_hooks(tensor.unsafeGetTensorImpl());
  }
  // There may be none: for x.retain_grad(); x.t_() torch makes a new Node, and the hook stays with the old one.
  return tensor.retains_grad() && made_by.function->pop_retains_grad_hook(made_by.input_nr) != nullptr;
}

// Makes `node` the history of a tensor, which is its only output.
void replace_node(const Tensor& tensor, c10::intrusive_ptr<Node> node) {
  const bool retained = tensor.grad_fn() != nullptr && without_hooks(tensor, impl::gradient_edge(tensor));
  impl::set_gradient_edge(tensor, {std::move(node), 0});
  if (retained) { // by a hook that is new, as the old one knew of which of several outputs it was
    impl::get_autograd_meta(tensor)->retains_grad_ = false;
    tensor.retain_grad();
  }
}

void rebase_view(const Tensor& self, DifferentiableViewMeta& meta, c10::intrusive_ptr<Node> node) {
  TORCH_CHECK(node->num_inputs() == 1, "Functions which modify views in-place must return a single Variable");
  const auto& info = meta.get_backward_view();
  const Tensor& base = info.base_;
  Window window(base, self, info.has_view_fn() ? info.view_fn().clone_and_set() : nullptr);
  replace_node(base, c10::make_intrusive<CopySlices>(base, std::move(window), std::move(node)));
  // Every view of the base finds, when it is asked, that the version is not the one that its grad_fn is of, and makes a
  // new one: the view, taken of the base as it is now. This view is asked here, and has its grad_fn from now on.
  meta.output_nr_ = 0;
  self.grad_fn();
}

} // namespace

void rebase_history(const Tensor& self, c10::intrusive_ptr<Node> node) {
  if (node == nullptr || !self.defined()) {
    return;
  }
  node->add_input_metadata(self);
  DifferentiableViewMeta* const meta = impl::get_view_autograd_meta(self);
  if (meta != nullptr && meta->has_bw_view()) {
    rebase_view(self, *meta, std::move(node));
    return;
  }
  replace_node(self, std::move(node));
}

} // namespace gradmill::core
