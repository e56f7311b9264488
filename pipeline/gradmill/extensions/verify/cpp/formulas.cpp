// A gradient function and the formulas for tangents as functions that Python calls. families/sections.py explains the
// notation.
//// source
${away}
#include "gradmill_torch.h"
${back}
#include "verify.h"
#ifdef GRADMILL_LISTS
#include GRADMILL_LISTS
#endif

${helpers}
using namespace at;
using namespace torch::autograd;
using namespace torch::autograd::generated::details;

${functions}
//// backward
namespace torch::autograd::generated {
${function}
} // namespace torch::autograd::generated

extern "C" const char* ${symbol}(
    const gradmill::Value* args,
    const gradmill::Value* results,
    const gradmill::Value* incoming, // the gradients of the outputs, and whether each input needs one
    gradmill::Value& out) {
  using namespace torch::autograd::generated;
  return gradmill::without_exceptions([&](gradmill::Arena& arena) {
    ${arguments}
    ${results}
    ${saved}
    auto grads = gradmill::get<variable_list>(incoming[0], arena);
    auto needs = gradmill::get<std::array<bool, ${count}>>(incoming[1], arena);
    gradmill::put(out, ${node}_apply_functional(std::move(grads), needs${,passed}), arena);
  });
}
//// operator
static ${returns} ${name}(${parameters}) {
  static const auto found =
      c10::Dispatcher::singleton().findSchemaOrThrow("${operator}", "${overload}").typed<${returns}(${types})>();
  return found.call(${passed});
}
//// forward
${operator}
extern "C" const char* ${symbol}(
    const gradmill::Value* args,
    const gradmill::Value* results,
    const gradmill::Value* tangents,
    gradmill::Value& out) {
  using namespace torch::autograd::generated;
  return gradmill::without_exceptions([&](gradmill::Arena& arena) {
    ${arguments}
    ${results}
    ${tangents}
    ${type} computed = ${formula};
    ${written}
    gradmill::put(out, computed, arena);
  });
}
//// forward_by_member
${operator}
extern "C" const char* ${symbol}(
    const gradmill::Value* args,
    const gradmill::Value* results,
    const gradmill::Value* tangents,
    gradmill::Value& out) {
  using namespace torch::autograd::generated;
  return gradmill::without_exceptions([&](gradmill::Arena& arena) {
    ${arguments}
    ${results}
    std::vector<${type}> computed;
    for (size_t i = 0; i < result.size(); ++i) {
      ${tangents}
      computed.push_back(${condition} ? ${type}(${formula}) : ${type}());
    }
    gradmill::put(out, computed, arena);
  });
}
