// The C++ of one tracing kernel. families/sections.py explains the notation.
//// include
#include <${header}>
//// definition
${returns} ${kernel}(${parameters}) {
  ${body}
}
//// registration
m.impl("${operator}",
       TORCH_FN(TraceType::${kernel})
);
//// record
torch::jit::Node* node = nullptr;
std::shared_ptr<jit::tracer::TracingState> tracer_state;
if (jit::tracer::isTracing()) {
  tracer_state = jit::tracer::getTracingState();
  at::Symbol op_name;
  ${op_name}
  node = tracer_state->createNode(op_name, /*num_outputs=*/0);
  jit::tracer::recordSourceLocation(node);
  ${inputs}
  tracer_state->insertNode(node);
  ${ensure_unique}
  jit::tracer::setTracingState(nullptr);
}
//// call
${results}at::_ops::${struct}::redispatch(${arguments});
//// recorded
if (tracer_state) {
  jit::tracer::setTracingState(std::move(tracer_state));
  ${outputs}
}
//// choice
if (${condition}) {
  ${out_of_place}
} else {
  ${in_place}
}
//// op_name
op_name = c10::Symbol::fromQualString("aten::${name}");
//// input
jit::tracer::addInputs(node, "${name}", ${name});
//// output
jit::tracer::addOutput(node, ${name});
//// ensure_unique
jit::tracer::ensureUniqueIfOutOfPlaced("${name}", ${argument});
//// options_of_out
jit::tracer::addInputs(node, "out", c10::optTypeMetaToScalarType(out.options().dtype_opt()));
jit::tracer::addInputs(node, "out", out.options().layout());
jit::tracer::addInputs(node, "out", out.options().device());
jit::tracer::addInputs(node, "out", out.options().pinned_memory());
//// like_arguments
//<2.5     jit::tracer::addInputs(node, "options", c10::optional<ScalarType>());
//<2.5     jit::tracer::addInputs(node, "options", layout_or_default(c10::nullopt));
//<2.5     jit::tracer::addInputs(node, "options", device_or_default(c10::nullopt));
//<2.5     jit::tracer::addInputs(node, "options", pinned_memory_or_default(c10::nullopt));
//<2.5     c10::optional<MemoryFormat> memory_format = c10::MemoryFormat::Preserve;
//>=2.5     jit::tracer::addInputs(node, "options", ::std::optional<ScalarType>());
//>=2.5     jit::tracer::addInputs(node, "options", layout_or_default(::std::nullopt));
//>=2.5     jit::tracer::addInputs(node, "options", device_or_default(::std::nullopt));
//>=2.5     jit::tracer::addInputs(node, "options", pinned_memory_or_default(::std::nullopt));
//>=2.5     ::std::optional<MemoryFormat> memory_format = c10::MemoryFormat::Preserve;
    jit::tracer::addInputs(node, "memory_format", memory_format);
