// The C++ of one factory function. Each section is one piece of text; a piece has one section for each release that
// changed it.
//// include, since 2.4
#include <ATen/ops/${base}.h>
//// definition, since 2.4
inline at::Tensor ${name}(${parameters}) {
  at::AutoDispatchBelowADInplaceOrView guard;
  return autograd::make_variable(at::${name}(${arguments}), /*requires_grad=*/${requires_grad});
}
//// options, since 2.4
at::TensorOptions(${name}).requires_grad(c10::nullopt)
//// options, since 2.5
at::TensorOptions(${name}).requires_grad(::std::nullopt)
