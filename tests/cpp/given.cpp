#include "given.h"

#include <torch/csrc/utils/pybind.h>

namespace gradmill::test {

namespace {

template <typename T>
T cast(PyObject* value, const char* name) {
  try {
    return py::cast<T>(py::handle(value));
  } catch (const py::cast_error&) {
    throw py::type_error(std::string(name) + " has the wrong type: " + py::repr(value).cast<std::string>());
  }
}

// pybind11 would read a whole number as a Scalar of floating point where torch does not.
at::Scalar to_scalar(PyObject* value, const char* name) {
  if (PyBool_Check(value)) {
    return at::Scalar(value == Py_True);
  }
  if (PyLong_Check(value)) {
    return at::Scalar(static_cast<int64_t>(PyLong_AsLongLong(value)));
  }
  return at::Scalar(cast<double>(value, name));
}

} // namespace

PyObject* Given::value(const char* name) const {
  PyObject* found = PyDict_GetItemString(dict_, name);
  if (found == nullptr) {
    throw py::key_error(name);
  }
  return found;
}

at::Tensor Given::tensor(const char* name) const {
  return cast<at::Tensor>(value(name), name);
}

std::optional<at::Tensor> Given::optional_tensor(const char* name) const {
  return cast<std::optional<at::Tensor>>(value(name), name);
}

std::vector<at::Tensor> Given::tensors(const char* name) const {
  return cast<std::vector<at::Tensor>>(value(name), name);
}

std::vector<std::optional<at::Tensor>> Given::optional_tensors(const char* name) const {
  return cast<std::vector<std::optional<at::Tensor>>>(value(name), name);
}

at::Scalar Given::scalar(const char* name) const {
  return to_scalar(value(name), name);
}

std::optional<at::Scalar> Given::optional_scalar(const char* name) const {
  PyObject* found = value(name);
  return found == Py_None ? std::nullopt : std::make_optional(to_scalar(found, name));
}

std::vector<at::Scalar> Given::scalars(const char* name) const {
  std::vector<at::Scalar> all;
  for (const py::handle one : py::cast<py::list>(value(name))) {
    all.push_back(to_scalar(one.ptr(), name));
  }
  return all;
}

int64_t Given::integer(const char* name) const {
  return cast<int64_t>(value(name), name);
}

std::optional<int64_t> Given::optional_integer(const char* name) const {
  return cast<std::optional<int64_t>>(value(name), name);
}

std::vector<int64_t> Given::integers(const char* name) const {
  return cast<std::vector<int64_t>>(value(name), name);
}

std::optional<std::vector<int64_t>> Given::optional_integers(const char* name) const {
  return cast<std::optional<std::vector<int64_t>>>(value(name), name);
}

double Given::number(const char* name) const {
  return cast<double>(value(name), name);
}

std::optional<double> Given::optional_number(const char* name) const {
  return cast<std::optional<double>>(value(name), name);
}

std::optional<std::vector<double>> Given::optional_numbers(const char* name) const {
  return cast<std::optional<std::vector<double>>>(value(name), name);
}

bool Given::boolean(const char* name) const {
  return cast<bool>(value(name), name);
}

std::optional<bool> Given::optional_boolean(const char* name) const {
  return cast<std::optional<bool>>(value(name), name);
}

std::string Given::string(const char* name) const {
  return cast<std::string>(value(name), name);
}

std::optional<std::string> Given::optional_string(const char* name) const {
  return cast<std::optional<std::string>>(value(name), name);
}

} // namespace gradmill::test
