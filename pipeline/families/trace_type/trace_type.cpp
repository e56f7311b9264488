// The C++ of one tracing kernel. Each section is one piece of text; a piece has one section for each release that
// changed it.
//// include, since 2.4
#include <${header}>
//// definition, since 2.4
${returns} ${kernel}(${parameters}) {
  ${body}
}
//// registration, since 2.4
m.impl("${operator}",
       TORCH_FN(TraceType::${kernel})
);
//// record, since 2.4
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
//// call, since 2.4
${results}at::_ops::${struct}::redispatch(${arguments});
//// recorded, since 2.4
if (tracer_state) {
  jit::tracer::setTracingState(std::move(tracer_state));
  ${outputs}
}
//// choice, since 2.4
if (${condition}) {
  ${out_of_place}
} else {
  ${in_place}
}
//// op_name, since 2.4
op_name = c10::Symbol::fromQualString("aten::${name}");
//// input, since 2.4
jit::tracer::addInputs(node, "${name}", ${name});
//// output, since 2.4
jit::tracer::addOutput(node, ${name});
//// ensure_unique, since 2.4
jit::tracer::ensureUniqueIfOutOfPlaced("${name}", ${argument});
//// options_of_out, since 2.4
jit::tracer::addInputs(node, "out", c10::optTypeMetaToScalarType(out.options().dtype_opt()));
jit::tracer::addInputs(node, "out", out.options().layout());
jit::tracer::addInputs(node, "out", out.options().device());
jit::tracer::addInputs(node, "out", out.options().pinned_memory());
//// like_arguments, since 2.4
    jit::tracer::addInputs(node, "options", c10::optional<ScalarType>());
    jit::tracer::addInputs(node, "options", layout_or_default(c10::nullopt));
    jit::tracer::addInputs(node, "options", device_or_default(c10::nullopt));
    jit::tracer::addInputs(node, "options", pinned_memory_or_default(c10::nullopt));
    c10::optional<MemoryFormat> memory_format = c10::MemoryFormat::Preserve;
    jit::tracer::addInputs(node, "memory_format", memory_format);
//// like_arguments, since 2.5
    jit::tracer::addInputs(node, "options", ::std::optional<ScalarType>());
    jit::tracer::addInputs(node, "options", layout_or_default(::std::nullopt));
    jit::tracer::addInputs(node, "options", device_or_default(::std::nullopt));
    jit::tracer::addInputs(node, "options", pinned_memory_or_default(::std::nullopt));
    ::std::optional<MemoryFormat> memory_format = c10::MemoryFormat::Preserve;
    jit::tracer::addInputs(node, "memory_format", memory_format);
