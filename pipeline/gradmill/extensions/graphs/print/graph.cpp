// The C++ of one graph. Each section is a piece of text; `${name}` is a hole: alone on its line it takes a block, indented.
//// structs

// ---- ${name}: ${doc}${opened}
struct ${name}_saved : graph::Saved ${saved};
${rows}
struct ${name}_results ${results};
//// forward

${name}_results ${name}_forward(
    ${parameters}) ${body}
//// backward

// The gradients of the inputs, from those of ${gradients}.
variable_list ${name}_backward(
    const variable_list& grads, graph::Saved& all, const variable_list& kept, graph::Needs& needs, const Edge& needed) ${body}
//// closed

} // namespace
//// wrapper

${type} ${name}(
    ${declared}) ${body}
//// rows

// The places after those of inputs: whether one of several values needs a gradient.
inline void ${name}_rows(graph::Needs& needs, const ${name}_saved& saved) ${body}
//// split_forward

// The arguments of the forward.
struct ${name}_forward_inputs ${arguments};

// The values of the forward that several of its parts use.
struct ${name}_forward_values ${members};

${name}_results ${name}_forward(
    ${parameters});
${parts}
//// part_of_forward
void ${name}_forward_${number}(
    const ${name}_forward_inputs& inputs_,
    ${given_needs} needs,
    ${name}_saved& saved,
    ${name}_forward_values& values_)
//// split_backward

// The tensors of the backward that autograd keeps.
struct ${name}_backward_kept ${arguments};

// The gradients, and the values that several parts of the backward use.
struct ${name}_backward_gradients ${members};

variable_list ${name}_backward(
    const variable_list& grads, graph::Saved& all, const variable_list& kept, graph::Needs& needs, const Edge& needed);
${parts}
//// part_of_backward
void ${name}_backward_${number}(
    const variable_list& grads,
    ${name}_saved& saved,
    const ${name}_backward_kept& inputs_,
    const graph::Needs& needs,
    const Edge& needed,
    ${name}_backward_gradients& values_)
//// part_body

${head} ${body}
//// source
// ${comment}

#include "${header}"

#include "graph.h"
${formulas}

${includes}

#include <limits>

${definitions}

// For each function `f`: `f_forward` is functional: nothing is written to, and views only name memory that stays as it
// is. It keeps `f_saved` for `f_backward`, and gives `f_results` to the wrapper `f`. `needs[i]`: whether tensor `i` of the
// inputs needs a gradient.
namespace gradmill::graphs::${namespace} {
${functions}

} // namespace gradmill::graphs::${namespace}

${library}
  ${registered}
}
//// part
// ${comment}

#include "${header}"

${definitions}

namespace gradmill::graphs::${namespace} {
${functions}

} // namespace gradmill::graphs::${namespace}
${registration}
//// registration

${library}
  ${registered}
}
//// parts_header
#pragma once

// ${comment}

#include "${header}"

#include "graph.h"
${formulas}

${includes}

#include <limits>

namespace gradmill::graphs::${namespace} {
${functions}

} // namespace gradmill::graphs::${namespace}
//// header
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
//// own_formulas
namespace ${namespace} {
namespace {

${functions}

} // namespace
} // namespace ${namespace}
//// state_header
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
//// state_struct
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
//// headers
#include <torch/csrc/api/include/torch/version.h>

#if TORCH_VERSION_MAJOR == ${major} && TORCH_VERSION_MINOR < ${minor}
${errors}
// No release has this header: no error follows.
#include <headers_of_PyTorch_${release}_or_newer>
#endif
//// older
#if TORCH_VERSION_MINOR == ${number}
#error "generated for PyTorch ${release}, but the headers are those of PyTorch ${older}: compile with those of ${release}"
#endif
