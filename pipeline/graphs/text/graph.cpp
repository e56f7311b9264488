// The C++ of one graph. Each section is a piece of text; `${name}` is a hole: alone on its line it takes a block, indented.
//// structs, since 2.13

// ---- ${name}: ${doc}

${opened}

// Which inputs need a gradient: ${tensors}
using ${name}_needs = std::array<bool, ${count}>;
${unions}

// What the forward keeps for the backward. `last`: no other backward will use it.
struct ${name}_saved {
  bool last = false;
  ${saved}
};

// What the forward gives to the wrapper.
struct ${name}_results {
  ${results}
};
//// forward, since 2.13

// Functional: nothing is written to, and views only name memory that stays as it is.
${name}_results ${name}_forward(
    ${parameters}
    [[maybe_unused]] ${given_needs} needs,
    [[maybe_unused]] ${name}_saved& saved) {
  ${forward}
  return {${returned}};
}
//// backward, since 2.13

// The gradients of the inputs, from those of ${gradients}.
variable_list ${name}_backward(
    const variable_list& grads,
    [[maybe_unused]] ${name}_saved& saved,
    ${visible}
    [[maybe_unused]] const ${name}_needs& needs,
    [[maybe_unused]] const Edge& needed) {
  ${backward}
  return graph::joined({${found}});
}
//// node, since 2.13

struct ${name}_node final : public Node {
  ${name}_saved saved;
  ${variables}
  ${sizes}
  ${again}
  bool released = false;

  std::string name() const override {
    return "${name}_backward";
  }
  void will_release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    saved.last = true;
  }
  void release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    saved = ${name}_saved();
    ${released}
    released = true;
  }
  variable_list apply(variable_list&& grads) override {
    std::lock_guard<std::mutex> lock(mutex_);
    TORCH_CHECK(!released, torch::autograd::ERR_BACKWARD_TWICE);
    released = saved.last;
    const auto wants = [this](size_t first, size_t count) {
      for (size_t i = first; i < first + count; ++i) {
        if (task_should_compute_output(i)) {
          return true;
        }
      }
      return false;
    };
    const graph::NoAutocast no_autocast;
    ${name}_needs needs{};
    size_t place = 0;
    ${wanted}
    ${unite}
    Edge needed;
    for (size_t i = 0; i < num_outputs(); ++i) {
      if (task_should_compute_output(i)) {
        needed = next_edge(i);
      }
    }
    ${unpacked}
    ${differentiable}
    variable_list found;
    {
      at::AutoDispatchBelowADInplaceOrView below_autograd;
      at::NoGradGuard no_grad;
      found = ${name}_backward(${passed});
    }
    return ${result};
  }
};
//// wrapper, since 2.13

${closed}

${type} ${name}(
    ${declared}) {
  ${guards}
  const graph::NoAutocast no_autocast;
  [[maybe_unused]] ${name}_needs needs{};
  if (at::GradMode::is_enabled()) {
    needs = {${needs}};
    ${unite}
  }
  ${checks}
  [[maybe_unused]] ${name}_saved saved;
  ${name}_results results;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    results = ${name}_forward(${given}needs, saved);
  }
  ${late_checks}
  ${history}
  ${updates}
  ${views}
  ${metadata}
  ${return}
}
//// history, since 2.13
${opened}
  node->set_next_edges(graph::next_edges({${inputs}}));
  ${sizes}
  ${outputs}
  node->saved = std::move(saved);
  ${variables}
  ${again}
}
//// differentiable, since 2.13
// With create_graph: the values of the forward again, with their histories.
if (at::GradMode::is_enabled()) {
  ${name}_saved recorded;
  again(needs, recorded);
  return ${name}_backward(${passed});
}
//// again, since 2.13
node->again = [kept = graph::kept(${given})](${name}_needs needs, ${name}_saved& saved) {
  std::apply([&](const auto&... given) { ${name}_forward(given..., needs, saved); }, graph::given(*kept));
};
//// unions, since 2.13

// The places after those: of sets of inputs, one of which needs a gradient.
inline void ${name}_unite(${name}_needs& needs) {
  ${unions}
}
//// split_structs, since 2.13

// The arguments of the forward.
struct ${name}_forward_inputs {
  ${inputs}
};

// The values of the forward that several of its parts use.
struct ${name}_forward_values {
  ${values}
};

${name}_results ${name}_forward(
    ${parameters}
    ${given_needs} needs,
    ${name}_saved& saved);
${forwards}
//// split_forward, since 2.13

// Functional: nothing is written to, and views only name memory that stays as it is.
${name}_results ${name}_forward(
    ${parameters}
    ${given_needs} needs,
    ${name}_saved& saved) {
  const ${name}_forward_inputs inputs_{${given}};
  ${name}_forward_values values_;
  ${calls}
  return {${returned}};
}
//// part_of_forward, since 2.13

void ${name}_forward_${number}(
    [[maybe_unused]] const ${name}_forward_inputs& inputs_,
    [[maybe_unused]] ${given_needs} needs,
    [[maybe_unused]] ${name}_saved& saved,
    [[maybe_unused]] ${name}_forward_values& values_) {
  ${statements}
}
//// split_backward_structs, since 2.13

// The tensors of the backward that autograd keeps.
struct ${name}_backward_kept {
  ${kept}
};

// The gradients, and the values that several parts of the backward use.
struct ${name}_backward_gradients {
  ${gradients}
};

variable_list ${name}_backward(
    const variable_list& grads,
    ${name}_saved& saved,
    ${visible}
    const ${name}_needs& needs,
    const Edge& needed);
${backwards}
//// split_backward, since 2.13

// The gradients of the inputs, from those of ${outputs}.
variable_list ${name}_backward(
    const variable_list& grads,
    ${name}_saved& saved,
    ${visible}
    const ${name}_needs& needs,
    const Edge& needed) {
  const ${name}_backward_kept kept_{${given}};
  ${name}_backward_gradients values_;
  ${calls}
  return graph::joined({${given_back}});
}
//// part_of_backward, since 2.13

void ${name}_backward_${number}(
    [[maybe_unused]] const variable_list& grads,
    [[maybe_unused]] ${name}_saved& saved,
    [[maybe_unused]] const ${name}_backward_kept& inputs_,
    [[maybe_unused]] const ${name}_needs& needs,
    [[maybe_unused]] const Edge& needed,
    [[maybe_unused]] ${name}_backward_gradients& values_) {
  ${statements}
}
//// source, since 2.13
// ${comment}

#include "${header}"

#include "graph.h"
${formulas}

${includes}

#include <limits>
#include <mutex>

${definitions}

namespace gradmill::graphs::${namespace} {

namespace {
// What held attributes are computed with, and the rest.
using gradmill::graph::strides_or_error;
using torch::autograd::to_args_scalartypes;
using torch::autograd::to_args_sizes;
using torch::autograd::to_args_sizes_symint;

using at::Tensor;
using at::TensorGeometry;
using torch::autograd::Edge;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;
namespace graph = gradmill::graph;
} // namespace
${functions}

} // namespace gradmill::graphs::${namespace}

${library}
  ${registered}
}
//// part, since 2.13
// ${comment}

#include "${header}"

${definitions}

namespace gradmill::graphs::${namespace} {
${functions}

} // namespace gradmill::graphs::${namespace}
${registration}
//// registration, since 2.13

${library}
  ${registered}
}
//// parts_header, since 2.13
#pragma once

// ${comment}

#include "${header}"

#include "graph.h"
${formulas}

${includes}

#include <limits>
#include <mutex>

namespace gradmill::graphs::${namespace} {

using gradmill::graph::strides_or_error;
using torch::autograd::to_args_scalartypes;
using torch::autograd::to_args_sizes;
using torch::autograd::to_args_sizes_symint;

using at::Tensor;
using at::TensorGeometry;
using torch::autograd::Edge;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;
namespace graph = gradmill::graph;
${functions}

} // namespace gradmill::graphs::${namespace}
//// header, since 2.13
#pragma once

// ${comment}

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace gradmill::graphs::${namespace} {

${declarations}

} // namespace gradmill::graphs::${namespace}
//// own_formulas, since 2.13
namespace ${namespace} {
namespace {

${functions}

} // namespace
} // namespace ${namespace}
//// state_header, since 2.13
#pragma once

// ${comment}

#include "${header}"
#include "graph_state.h"

namespace gradmill::graphs::${namespace} {

${structs}

// The same function with the state of the model in structs.
inline ${type} ${name}(
    ${parameters}
) {
  return ${name}(
      ${arguments}
  );
}

} // namespace gradmill::graphs::${namespace}
//// state_struct, since 2.13
// ${doc}
struct ${type} {
  ${members}
};

// Each one's name in the module, its tensor, dtype, sizes and strides, and whether it is trained.
inline ::gradmill::state::Entries entries(${type}& state) {
  ::gradmill::state::Entries entries;
  ${entries}
  return entries;
}
