#include "Functions.h"

#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

#include "toy_formulas.h"

// ${generated_comment}

namespace toy::autograd {

using torch::autograd::edge_list;
using torch::autograd::ERR_BACKWARD_TWICE;
using torch::autograd::InputMetadata;
using torch::autograd::ivalue_list;
using torch::autograd::generated::details::any_variable_defined;
using torch::autograd::generated::details::copy_range;
using torch::autograd::generated::details::IndexRangeGenerator;
using torch::dynamo::autograd::PackedArgs;

// How a Node reaches its own backward function through compiled autograd.
static C10_NOINLINE variable_list compiled_autograd_apply_functional(
    const PackedArgs& packed_args,
    const edge_list& next_edges,
    SwapSavedVariables& saved,
    const variable_list& grads,
    const std::string& name) {
  using Metadata = std::vector<std::optional<InputMetadata>>;
  const at::IValue output_metadata = torch::dynamo::autograd::IValuePacker<Metadata>::pack(
      torch::dynamo::autograd::get_input_metadata(next_edges));
  return torch::dynamo::autograd::getPyCompilerInterface()->call_function(
      saved.get_py_compiler(), "apply_functional", name, grads, packed_args.vec(), output_metadata);
}

${autograd_function_definitions}

} // namespace toy::autograd
