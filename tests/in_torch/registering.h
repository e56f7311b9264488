#pragma once

// Included before each file of kernels, whose text stays as it is: the library that the object is linked into says at
// which dispatch key the kernels of a block are registered, so that the same objects serve every device, or one.

#include <torch/library.h>

#include <optional>

namespace gradmill::test {

// The key for kernels that are meant for `key`; none if they are not registered. Each library has its own.
std::optional<c10::DispatchKey> registered_at(c10::DispatchKey key);

// Registers a block, as torch's macro does, or not.
class Registration {
 public:
  Registration(
      c10::DispatchKey key,
      void (*block)(torch::Library&),
      const char* name_space,
      const char* file,
      uint32_t line) {
    if (const auto found = registered_at(key)) {
      library_.emplace(torch::Library::IMPL, block, name_space, found, file, line);
    }
  }

 private:
  std::optional<torch::detail::TorchLibraryInit> library_;
};

} // namespace gradmill::test

#define GRADMILL_REGISTRATION(ns, k, m, uid)                                       \
  static void C10_CONCATENATE(gradmill_block_##k##_, uid)(torch::Library&);        \
  static const gradmill::test::Registration C10_CONCATENATE(gradmill_##k##_, uid)( \
      c10::DispatchKey::k, &C10_CONCATENATE(gradmill_block_##k##_, uid), #ns, __FILE__, __LINE__); \
  void C10_CONCATENATE(gradmill_block_##k##_, uid)(torch::Library & m)

#undef TORCH_LIBRARY_IMPL
#define TORCH_LIBRARY_IMPL(ns, k, m) GRADMILL_REGISTRATION(ns, k, m, C10_UID)
