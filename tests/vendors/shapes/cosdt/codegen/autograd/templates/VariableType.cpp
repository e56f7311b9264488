// ${generated_comment}
${type_derived_method_definitions}
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
    ${wrapper_registrations_aten}
}
TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) {
    ${wrapper_registrations_npu}
}
