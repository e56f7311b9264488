// ${generated_comment}
namespace accel::VariableType {
${definitions}
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  ${registrations_aten}
}

TORCH_LIBRARY_IMPL(accel, AutogradPrivateUse1, m) {
  ${registrations_accel}
}

TORCH_LIBRARY_IMPL(plugin, AutogradPrivateUse1, m) {
  ${registrations_plugin}
}
