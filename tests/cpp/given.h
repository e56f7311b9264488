#pragma once

// What a test gives to a Node by name: the arguments of an operator, or its results.

#include <Python.h>

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

namespace gradmill::test {

// A Python dict, read as C++ values. An error names the value that does not fit.
class Given {
 public:
  explicit Given(PyObject* dict) : dict_(dict) {}

  at::Tensor tensor(const char* name) const;
  std::optional<at::Tensor> optional_tensor(const char* name) const;
  std::vector<at::Tensor> tensors(const char* name) const;
  std::vector<std::optional<at::Tensor>> optional_tensors(const char* name) const;
  at::Scalar scalar(const char* name) const;
  std::optional<at::Scalar> optional_scalar(const char* name) const;
  std::vector<at::Scalar> scalars(const char* name) const;
  int64_t integer(const char* name) const;
  std::optional<int64_t> optional_integer(const char* name) const;
  std::vector<int64_t> integers(const char* name) const;
  std::optional<std::vector<int64_t>> optional_integers(const char* name) const;
  double number(const char* name) const;
  std::optional<double> optional_number(const char* name) const;
  std::optional<std::vector<double>> optional_numbers(const char* name) const;
  bool boolean(const char* name) const;
  std::optional<bool> optional_boolean(const char* name) const;
  std::string string(const char* name) const;
  std::optional<std::string> optional_string(const char* name) const;

 private:
  PyObject* value(const char* name) const;

  PyObject* dict_; // borrowed
};

} // namespace gradmill::test
