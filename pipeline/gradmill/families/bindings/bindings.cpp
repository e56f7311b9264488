// The C++ of one Python binding. families/sections.py explains the notation.
//// include
#include <ATen/ops/${header}.h>
//// declaration
static PyObject * ${binding}(PyObject* self_, PyObject* args, PyObject* kwargs);
//// declaration_without_arguments
static PyObject * ${binding}(PyObject* self_, PyObject* args);
//// row
//<2.6 {"${name}", ${binding}, ${flags}, NULL},
//>=2.6 {"${name}", ${binding}, ${flags}, nullptr},
//// several_signatures
\
// ${name}
static PyObject * ${binding}(PyObject* self_, PyObject* args, PyObject* kwargs)
{
  ${header}
  static PythonArgParser parser({
    ${signatures}
  }, /*traceable=*/${traceable});

  ParsedArgs<${most}> parsed_args;
  auto _r = parser.parse(${own}, args, kwargs, parsed_args);
  ${override}
  switch (_r.idx) {
    ${dispatch}
  }
  ${footer}
}

//// one_signature
// ${name}
static PyObject * ${binding}(PyObject* self_, PyObject* args, PyObject* kwargs)
{
  ${header}
  static PythonArgParser parser({
    ${signatures}
  }, /*traceable=*/${traceable});

  ParsedArgs<${most}> parsed_args;
  auto _r = parser.parse(${own}, args, kwargs, parsed_args);
  ${override}
  ${dispatch}
  ${footer}
}

//// without_arguments
// ${name}
static PyObject * ${binding}(PyObject* self_, PyObject* args)
{
  ${header}
  ${override}
  ${dispatch}
  ${footer}
}

//// structseq
static PyTypeObject* ${variable} = generated::get_${function}_structseq();
//// override
if(_r.has_torch_function()) {
  return handle_torch_function(_r, ${own}, args, kwargs, ${owner}, "${module}");
}
//// override_of_method
//<2.13 if(check_has_torch_function(self_)) {
//>=2.13 if (has_torch_function(self_)) {
  return handle_torch_function(self_, "${name}");
}
//// case
case ${index}: {
  ${body}
}
//// with_out
if (_r.isNone(${index})) {
  ${call}
} else {
  ${out_call}
}
//// call
auto dispatch_${function} = [](${parameters}) -> ${returns} {
  pybind11::gil_scoped_release no_gil;
  return ${target}(${passed});
};
return wrap(${structseq}dispatch_${function}(${arguments})${requires_grad});
//// call_without_result
auto dispatch_${function} = [](${parameters}) -> ${returns} {
  pybind11::gil_scoped_release no_gil;
  ${target}(${passed});
};
dispatch_${function}(${arguments})${requires_grad};
${return_}
//// return_none
Py_RETURN_NONE;
//// return_list
PyObject* self_tensorlist = _r.args[0];
Py_INCREF(self_tensorlist);
return self_tensorlist;

//// local
auto ${name} = ${value};
//// dimnames
auto __${name} = ${value};
::std::optional<DimnameList> ${name} = __${name} ? ::std::make_optional(DimnameList(__${name}.value())) : ::std::nullopt;
//// options
const auto options = TensorOptions()
    .dtype(${dtype})
    .device(${device})
    .layout(${layout})
    .requires_grad(${requires_grad})
    .pinned_memory(${pin_memory});
//// device
torch::utils::maybe_initialize_device(options);
//// device_of_method
//<2.13 torch::utils::maybe_initialize_device(options);
//>=2.13 if (!at::impl::tensor_has_dispatch(self)) {
//>=2.13   torch::utils::maybe_initialize_device(options);
//>=2.13 }
//// compared_options
check_out_type_matches(${out}, ${dtype},
                       ${dtype_is_none}, ${layout},
                       ${device}, ${device_is_none});
