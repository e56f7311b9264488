// What the generated bindings use and libtorch_python does not export.
//
// The first part does the same by other means. The second part throws: helpers of methods that the template has written
// by hand, of which no text is generated.

#include <Python.h>

#include <ATen/core/Tensor.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Size.h>
#include <torch/csrc/autograd/python_nested_functions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/disable_torch_function.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/utils/pycfunction_helpers.h>
#include <torch/csrc/utils/python_arg_parser.h>
#include <torch/csrc/utils/structseq.h>
#include <torch/csrc/utils/tensor_apply.h>
#include <torch/csrc/utils/tensor_list.h>
#include <torch/csrc/utils/tensor_new.h>
#include <torch/csrc/utils/tensor_qschemes.h>
#include <torch/csrc/utils/tensor_types.h>

// What messages begin with that say nothing of the bindings.
#define NOT_EXPORTED "not exported by libtorch_python: "

namespace torch {

namespace {

// The arguments with the object that a method belongs to, if any, ahead of them.
py::tuple with_self(PyObject* self, PyObject* args) {
  auto all = args == nullptr ? py::tuple() : py::reinterpret_borrow<py::tuple>(args);
  if (self == nullptr) {
    return all;
  }
  return py::make_tuple(py::reinterpret_borrow<py::object>(self)) + all;
}

} // namespace

// __torch_function__ of arguments and of modes, by the one function about it that is exported.
PyObject* handle_torch_function(
    PythonArgs& r,
    PyObject* self,
    PyObject* args,
    PyObject* kwargs,
    PyObject* torch_api,
    const char* module_name,
    const char* func_name_override) {
  const std::string name = func_name_override == nullptr ? r.get_func_name() : func_name_override;
  const py::object function = py::handle(torch_api).attr(name.c_str());
  const py::tuple all = with_self(self, args);
  return handle_torch_function_no_python_arg_parser(
      r.overloaded_args, all.ptr(), kwargs, name.c_str(), function.ptr(), module_name);
}

PyObject* handle_torch_function(
    PythonArgs& r,
    PyObject* args,
    PyObject* kwargs,
    PyObject* torch_api,
    const char* module_name,
    const char* func_name_override) {
  return handle_torch_function(r, nullptr, args, kwargs, torch_api, module_name, func_name_override);
}

PyObject* handle_torch_function(
    PyObject* self,
    const std::string& func_name,
    PyObject* args,
    PyObject* kwargs,
    PyObject* torch_api,
    const std::string& module_name) {
  const py::object function = py::handle(torch_api).attr(func_name.c_str());
  const py::tuple all = with_self(self, args);
  return handle_torch_function_no_python_arg_parser(
      {self}, all.ptr(), kwargs, func_name.c_str(), function.ptr(), module_name.c_str());
}

// Python's own question also resets the flag "skip the next one", so that this one never has to.
bool consume_should_skip_torch_function() {
  return false;
}

bool check_has_torch_function(PyObject* obj, bool /*ignore_mode*/) {
  return py::module::import("torch._C").attr("_has_torch_function_unary")(py::handle(obj)).cast<bool>();
}

} // namespace torch

// A torch.Size, of numbers or of symbols.
PyObject* THPSize_NewFromSymSizes(const at::Tensor& t) {
  py::list sizes;
  for (const c10::SymInt& size : t.sym_sizes()) {
    sizes.append(py::cast(size));
  }
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&THPSizeType))(py::tuple(sizes)).release().ptr();
}

namespace torch::utils {

// The class's name, and a line for each field.
PyObject* returned_structseq_repr(PyStructSequence* obj) {
  HANDLE_TH_ERRORS
  const auto results = py::reinterpret_borrow<py::tuple>(reinterpret_cast<PyObject*>(obj));
  const auto type = py::type::handle_of(results);
  const py::tuple fields = type.attr("__match_args__");
  std::string text = type.attr("__module__").cast<std::string>() + "." + type.attr("__name__").cast<std::string>();
  const char* between = "(\n";
  for (size_t i = 0; i < results.size(); ++i) {
    text += between + std::string(py::str(fields[i])) + "=" + std::string(py::repr(results[i]));
    between = ",\n";
  }
  return py::str(text + ")").release().ptr();
  END_HANDLE_TH_ERRORS
}

// Of dense tensors of the CPU alone.
PyObject* tensor_to_list(const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      tensor.is_cpu() && tensor.layout() == at::kStrided, NOT_EXPORTED "torch::utils::tensor_to_list");
  if (tensor.dim() == 0) {
    return py::cast(tensor.item()).release().ptr();
  }
  py::list members;
  for (const at::Tensor& member : tensor.unbind()) {
    members.append(py::reinterpret_steal<py::object>(tensor_to_list(member)));
  }
  return members.release().ptr();
}

PyObject* getTHPQScheme(at::QScheme qscheme) {
  const py::object scheme = py::module::import("torch").attr(at::toString(qscheme).c_str());
  return Py_NewRef(scheme.ptr());
}

namespace {

std::string name_of_type(at::ScalarType type) {
  return std::string("torch.") + c10::toString(type) + "Tensor";
}

} // namespace

// The legacy name of a type, of dense tensors of the CPU alone.
std::string options_to_string(const at::TensorOptions& options) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      options.device().is_cpu() && options.layout() == at::kStrided, NOT_EXPORTED "torch::utils::options_to_string");
  return name_of_type(c10::typeMetaToScalarType(options.dtype()));
}

at::TensorOptions options_from_string(const std::string& name) {
  for (int i = 0; i < static_cast<int>(at::ScalarType::NumOptions); ++i) {
    if (name == name_of_type(static_cast<at::ScalarType>(i))) {
      return at::dtype(static_cast<at::ScalarType>(i)).device(at::kCPU);
    }
  }
  TORCH_CHECK_NOT_IMPLEMENTED(false, NOT_EXPORTED "torch::utils::options_from_string");
}

} // namespace torch::utils

namespace {

[[noreturn]] void fail(const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, NOT_EXPORTED, name);
}

} // namespace

namespace torch::utils {

at::Tensor new_tensor(c10::DispatchKey, at::ScalarType, PyObject*, PyObject*) {
  fail("torch::utils::new_tensor");
}

at::Tensor legacy_tensor_new(c10::DispatchKey, at::ScalarType, PyObject*, PyObject*) {
  fail("torch::utils::legacy_tensor_new");
}

const at::Tensor& apply_(const at::Tensor&, PyObject*) {
  fail("torch::utils::apply_");
}

const at::Tensor& map_(const at::Tensor&, const at::Tensor&, PyObject*) {
  fail("torch::utils::map_");
}

const at::Tensor& map2_(const at::Tensor&, const at::Tensor&, const at::Tensor&, PyObject*) {
  fail("torch::utils::map2_");
}

} // namespace torch::utils

namespace torch::autograd {

namespace {

PyObject* nested_tensor(PyObject*, PyObject*, PyObject*) {
  HANDLE_TH_ERRORS
  fail("torch::autograd::get_nested_functions_manual");
  END_HANDLE_TH_ERRORS
}

} // namespace

PyMethodDef* get_nested_functions_manual() {
  static PyMethodDef functions[] = {
      {"nested_tensor", castPyCFunctionWithKeywords(nested_tensor), METH_VARARGS | METH_KEYWORDS, nullptr}};
  return functions;
}

} // namespace torch::autograd
