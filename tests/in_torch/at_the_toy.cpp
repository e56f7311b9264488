// Kernels of VariableType are registered for the toy device alone: those of other devices, and the kernels that are for
// CUDA or for nested tensors only, stay torch's. ADInplaceOrView is one key for all devices.

#include "registering.h"

namespace gradmill::test {

std::optional<c10::DispatchKey> registered_at(c10::DispatchKey key) {
  switch (key) {
    case c10::DispatchKey::Autograd:
      return c10::DispatchKey::AutogradPrivateUse1;
    case c10::DispatchKey::ADInplaceOrView:
      return key;
    default:
      return std::nullopt;
  }
}

} // namespace gradmill::test
