// What the toy device of examples/vendor needs beyond its own few operators, to be asked for all of torch's: the views
// that have a kernel by device, and convolutions, which no fallback reaches.

#include <ATen/ATen.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <torch/library.h>

namespace gradmill::test {

namespace {

void on_the_cpu(const char* name, torch::jit::Stack* stack) {
  at::native::cpu_fallback(c10::Dispatcher::singleton().findSchemaOrThrow(name, ""), stack);
}

void convolution(const c10::OperatorHandle& /*op*/, torch::jit::Stack* stack) {
  on_the_cpu("aten::convolution", stack);
}

// Has no sizes of the bias among its arguments: one for each channel of the result.
void convolution_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto first = stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  const int64_t channels = first->toTensor().size(1);
  stack->insert(first + 3, c10::IValue(std::vector<int64_t>{channels}));
  on_the_cpu("aten::convolution_backward", stack);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  m.impl("convolution_backward_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution_backward>());
}

} // namespace

} // namespace gradmill::test
