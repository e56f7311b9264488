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
//// copying
${declarator} {
  auto ${result} = ${functional}(${arguments});
  ${copies}
  return ${returned};
}
//// copy_of_list
    for (int64_t i = 0; i < ${result}.size(); ++i) {
        ${copy}(${result}[i], ${out}[i]);
    }
