// Kernels are registered where the generated files say.

#include "registering.h"

namespace gradmill::test {

std::optional<c10::DispatchKey> registered_at(c10::DispatchKey key) {
  return key;
}

} // namespace gradmill::test
