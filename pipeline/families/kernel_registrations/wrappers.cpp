// The C++ of wrappers of kernels, without empty lines: upstream leaves them out. families/sections.py explains the
// notation.
//// call
namespace {
${returns} ${name}(${parameters}) {
${check}
${guard}
  return ${kernel}(${arguments});
}
} // anonymous namespace
//// unchecked
    // No device check
//// checked
  std::optional<Device> common_device = std::nullopt;
(void)common_device; // Suppress unused variable warning
${arguments}
//// checked_argument
  c10::impl::check_and_update_common_device(common_device, ${argument}, "${name}", "${argument}");
//// unguarded
  // DeviceGuard omitted
//// guarded
  const OptionalDeviceGuard device_guard(device_of(${argument}));
//// created
  const DeviceGuard device_guard(device_or_default(device));
//// created_on_cuda
//<2.6   globalContext().lazyInitCUDA();
//>=2.6   globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  const DeviceGuard device_guard(device_or_default(device));
//// in_place
${returns} ${name}(${parameters}) {
  TORCH_CHECK_NOT_IMPLEMENTED(${own}.is_meta(),
    "Cannot inplace into non-meta tensor with meta tensor argument");
  return ${own};
}
//// class
${class}
${returns} ${name}(${parameters}) {
${body}
}
//// direct
${returns} ${name}(${parameters}) {
return ${wrapper}(${arguments});
}
//// registered
m.impl("${operator}",
TORCH_FN(${name}));
//// registered_class
m.impl("${operator}", TORCH_FN(${name}));
//// library
TORCH_LIBRARY_IMPL(${library}, ${key}, m) {
    ${first}
${others}
//<2.6 };
//>=2.6 }
