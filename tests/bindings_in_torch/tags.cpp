// The extension module `gradmill_tags`: the generated enumeration of tags. pybind11 refuses to register a C++ type that
// torch has registered, so that this module has a separate registry of types (PYBIND11_STDLIB).

#include <pybind11/pybind11.h>
#include <torch/csrc/autograd/python_enum_tag.h>

PYBIND11_MODULE(gradmill_tags, module) {
  torch::autograd::initEnumTag(module.ptr());
}
