// ${generated_comment}
#include "python_functions.h"

${py_function_props_and_getters}

void register_shard${shard_id}(PyObject* module) {
  ${py_function_initializers}
}
