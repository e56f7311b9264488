//// definition
PyTypeObject* get_${name}_structseq() {
    static PyStructSequence_Field NamedTuple_fields[] = { ${fields},  {nullptr} };
    static PyTypeObject ${type};
    static bool is_initialized = false;
    static PyStructSequence_Desc desc = { "torch.return_types.${name}", nullptr, NamedTuple_fields, ${count} };
    if (!is_initialized) {
        PyStructSequence_InitType(&${type}, &desc);
        ${type}.tp_repr = (reprfunc)torch::utils::returned_structseq_repr;
        is_initialized = true;
    }
    return &${type};
}
//// registration
addReturnType(return_types_module, "${name}", generated::get_${name}_structseq());
//// declaration
PyTypeObject* get_${name}_structseq();
