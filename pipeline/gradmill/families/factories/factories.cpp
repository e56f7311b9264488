// The C++ of one factory function. families/sections.py explains the notation.
//// include
#include <ATen/ops/${base}.h>
//// definition
inline at::Tensor ${name}(${parameters}) {
  at::AutoDispatchBelowADInplaceOrView guard;
  return autograd::make_variable(at::${name}(${arguments}), /*requires_grad=*/${requires_grad});
}
//// options
//<2.5 at::TensorOptions(${name}).requires_grad(c10::nullopt)
//>=2.5 at::TensorOptions(${name}).requires_grad(::std::nullopt)
