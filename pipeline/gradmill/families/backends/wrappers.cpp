// The C++ of wrappers of kernels. families/sections.py explains the notation.
//// registration
m.impl("${operator}",
TORCH_FN(${wrapper}));
//// calling
namespace {

${declarator} {
  ${check}

  ${guard}
  return ${kernel}(${arguments});
}

} // anonymous namespace
//// unchecked
  // No device check
//// checks
std::optional<Device> common_device = std::nullopt;
(void)common_device; // Suppress unused variable warning
//// checked

  c10::impl::check_and_update_common_device(common_device, ${name}, "${wrapper}", "${name}");
//// unguarded
// DeviceGuard omitted
//// guarded
const OptionalDeviceGuard device_guard(device_of(${name}));
//// guarded_by_options

  const DeviceGuard device_guard(device_or_default(device));
//// guarded_by_options_on_cuda
//<2.6 globalContext().lazyInitCUDA();
//>=2.6 globalContext().lazyInitDevice(c10::DeviceType::CUDA);

  const DeviceGuard device_guard(device_or_default(device));
