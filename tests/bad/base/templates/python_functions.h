#pragma once
// ${generated_comment}

${shard_forward_declare}

inline void register_all(PyObject* module) {
  ${shard_call}
}
