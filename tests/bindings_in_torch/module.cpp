// The extension module `gradmill_bindings`: the generated tables of functions and methods, each under torch's name for it.
//
// A table that is not linked is left out, so that one source serves all selections of generated files.

#include <Python.h>
#include <dlfcn.h>

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_torch_functions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <vector>

// Hidden: what is missing here is never taken from torch's libraries.
#define IN_THIS_MODULE __attribute__((weak, visibility("hidden")))

namespace torch::autograd {

IN_THIS_MODULE extern PyMethodDef variable_methods[];
IN_THIS_MODULE void initReturnTypes(PyObject* module);
IN_THIS_MODULE void initNNFunctions(PyObject* module);
IN_THIS_MODULE void initFFTFunctions(PyObject* module);
IN_THIS_MODULE void initLinalgFunctions(PyObject* module);
IN_THIS_MODULE void initNestedFunctions(PyObject* module);
IN_THIS_MODULE void initSparseFunctions(PyObject* module);
IN_THIS_MODULE void initSpecialFunctions(PyObject* module);
IN_THIS_MODULE void gatherTorchFunctions_0(std::vector<PyMethodDef>& functions);
IN_THIS_MODULE void gatherTorchFunctions_1(std::vector<PyMethodDef>& functions);
IN_THIS_MODULE void gatherTorchFunctions_2(std::vector<PyMethodDef>& functions);

// The object that functions of `torch` are attributes of: torch's own is hidden.
PyObject* THPVariableFunctionsModule = nullptr;

} // namespace torch::autograd

namespace {

using torch::autograd::THPVariableFunctionsModule;

// The functions of `torch`: static methods of a class, as torch has them.
PyObject* torch_functions() {
  static std::vector<PyMethodDef> functions;
  for (auto gather :
       {torch::autograd::gatherTorchFunctions_0,
        torch::autograd::gatherTorchFunctions_1,
        torch::autograd::gatherTorchFunctions_2}) {
    if (gather != nullptr) {
      gather(functions);
    }
  }
  functions.push_back({nullptr});
  static PyType_Slot slots[] = {{Py_tp_methods, functions.data()}, {0, nullptr}};
  static PyType_Spec spec = {"gradmill_bindings._VariableFunctionsClass", 0, 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* type = PyType_FromSpec(&spec);
  return type == nullptr ? nullptr : PyObject_CallNoArgs(type);
}

// The descriptors of all methods by name, for objects of a type.
PyObject* methods(PyObject* /*module*/, PyObject* type) {
  PyObject* descriptors = PyDict_New();
  for (PyMethodDef* method = torch::autograd::variable_methods; method != nullptr && method->ml_name; ++method) {
    PyObject* descriptor = PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type), method);
    if (descriptor == nullptr || PyDict_SetItemString(descriptors, method->ml_name, descriptor) < 0) {
      return nullptr;
    }
    Py_DECREF(descriptor);
  }
  return descriptors;
}

// The library that a function or a descriptor of a method has its code in.
PyObject* library_of(PyObject* /*module*/, PyObject* callable) {
  void* code = nullptr;
  if (PyCFunction_Check(callable)) {
    code = reinterpret_cast<void*>(PyCFunction_GetFunction(callable));
  } else if (Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
    code = reinterpret_cast<void*>(reinterpret_cast<PyMethodDescrObject*>(callable)->d_method->ml_meth);
  }
  Dl_info info;
  if (code == nullptr || dladdr(code, &info) == 0) {
    Py_RETURN_NONE;
  }
  return PyUnicode_FromString(info.dli_fname);
}

PyMethodDef own_functions[] = {
    {"methods", methods, METH_O, nullptr},
    {"library_of", library_of, METH_O, nullptr},
    {nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "gradmill_bindings", nullptr, -1, own_functions};

PyObject* create() {
  HANDLE_TH_ERRORS
  PyObject* module = PyModule_Create(&definition);
  if (module == nullptr) {
    return nullptr;
  }
  THPVariableFunctionsModule = torch_functions();
  if (PyModule_AddObjectRef(module, "_VariableFunctions", THPVariableFunctionsModule) < 0) {
    return nullptr;
  }
  for (auto init :
       {torch::autograd::initReturnTypes,
        torch::autograd::initNNFunctions,
        torch::autograd::initFFTFunctions,
        torch::autograd::initLinalgFunctions,
        torch::autograd::initNestedFunctions,
        torch::autograd::initSparseFunctions,
        torch::autograd::initSpecialFunctions}) {
    if (init != nullptr) {
      init(module);
    }
  }
  return module;
  END_HANDLE_TH_ERRORS
}

} // namespace

extern "C" __attribute__((visibility("default"))) PyObject* PyInit_gradmill_bindings() {
  return create();
}
