// The C++ of one Python binding. Each section is one piece of text; a piece has one section for each release that
// changed it.
//// include, since 2.4
#include <ATen/ops/${header}.h>
//// declaration, since 2.4
static PyObject * ${binding}(PyObject* self_, PyObject* args, PyObject* kwargs);
//// declaration_without_arguments, since 2.4
static PyObject * ${binding}(PyObject* self_, PyObject* args);
//// row, since 2.4
{"${name}", ${binding}, ${flags}, NULL},
//// row, since 2.6
{"${name}", ${binding}, ${flags}, nullptr},
//// several_signatures, since 2.4
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

//// one_signature, since 2.4
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

//// without_arguments, since 2.4
// ${name}
static PyObject * ${binding}(PyObject* self_, PyObject* args)
{
  ${header}
  ${override}
  ${dispatch}
  ${footer}
}

//// structseq, since 2.4
static PyTypeObject* ${variable} = generated::get_${function}_structseq();
//// override, since 2.4
if(_r.has_torch_function()) {
  return handle_torch_function(_r, ${own}, args, kwargs, ${owner}, "${module}");
}
//// override_of_method, since 2.4
if(check_has_torch_function(self_)) {
  return handle_torch_function(self_, "${name}");
}
//// override_of_method, since 2.13
if (has_torch_function(self_)) {
  return handle_torch_function(self_, "${name}");
}
//// case, since 2.4
case ${index}: {
  ${body}
}
//// with_out, since 2.4
if (_r.isNone(${index})) {
  ${call}
} else {
  ${out_call}
}
//// call, since 2.4
auto dispatch_${function} = [](${parameters}) -> ${returns} {
  pybind11::gil_scoped_release no_gil;
  return ${target}(${passed});
};
return wrap(${structseq}dispatch_${function}(${arguments})${requires_grad});
//// call_without_result, since 2.4
auto dispatch_${function} = [](${parameters}) -> ${returns} {
  pybind11::gil_scoped_release no_gil;
  ${target}(${passed});
};
dispatch_${function}(${arguments})${requires_grad};
${return_}
//// return_none, since 2.4
Py_RETURN_NONE;
//// return_list, since 2.4
PyObject* self_tensorlist = _r.args[0];
Py_INCREF(self_tensorlist);
return self_tensorlist;

//// local, since 2.4
auto ${name} = ${value};
//// dimnames, since 2.4
auto __${name} = ${value};
::std::optional<DimnameList> ${name} = __${name} ? ::std::make_optional(DimnameList(__${name}.value())) : ::std::nullopt;
//// options, since 2.4
const auto options = TensorOptions()
    .dtype(${dtype})
    .device(${device})
    .layout(${layout})
    .requires_grad(${requires_grad})
    .pinned_memory(${pin_memory});
//// device, since 2.4
torch::utils::maybe_initialize_device(options);
//// device_of_method, since 2.4
torch::utils::maybe_initialize_device(options);
//// device_of_method, since 2.13
if (!at::impl::tensor_has_dispatch(self)) {
  torch::utils::maybe_initialize_device(options);
}
//// compared_options, since 2.4
check_out_type_matches(${out}, ${dtype},
                       ${dtype_is_none}, ${layout},
                       ${device}, ${device_is_none});
