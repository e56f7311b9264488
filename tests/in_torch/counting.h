#pragma once

// Included before each file of kernels, whose text stays as it is: counts the calls of what kernels call, and from
// which kernel. Unpacking is VariableType's; counting versions and making views is that of ADInplaceOrView.

// Headers with functions of these names: of a spec set of its own, or torch's.
#if __has_include("Functions.h")
#include "Functions.h"
#include "VariableType.h"
#else
#include <torch/csrc/autograd/generated/VariableType.h>
#endif

#include <torch/csrc/autograd/VariableTypeUtils.h>

#include <atomic>

namespace gradmill::test {

// The counter of a kernel. `family` and `kernel` must outlive the program.
std::atomic<long>& counter(const char* family, const char* kernel);

} // namespace gradmill::test

#define GRADMILL_COUNT(family)                                                     \
  ([](const char* kernel) {                                                        \
    static std::atomic<long>& count = gradmill::test::counter(family, kernel);     \
    ++count;                                                                       \
  }(__func__))

#define unpack(...) (GRADMILL_COUNT("VariableType"), unpack(__VA_ARGS__))
#define increment_version(...) (GRADMILL_COUNT("ADInplaceOrView"), increment_version(__VA_ARGS__))
#define as_view(...) (GRADMILL_COUNT("views"), as_view(__VA_ARGS__))
