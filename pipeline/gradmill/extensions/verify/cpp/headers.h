// The header of torch for formulas, with what they need alone. families/sections.py explains the notation.
//// slim
#pragma once
#pragma GCC system_header
#define AT_PER_OPERATOR_HEADERS
#include <ATen/core/Tensor.h>
#include <ATen/TensorOperators.h>
#include <ATen/TensorGeometry.h>
#include <c10/core/GradMode.h>
#include <c10/util/irange.h>
${includes}
${lists}
namespace c10 {
${array}
}
namespace torch {
template <class T>
using List = c10::List<T>;
}
namespace torch::autograd {
using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;
using IndexRange = std::pair<size_t, size_t>;
${type_and_size}
namespace generated {
using namespace at;
using std::optional;
using torch::autograd::TypeAndSize;
}
}
${manual}
namespace torch::autograd {
${copied}
}
