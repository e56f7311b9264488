//// registration, since 2.4
m.impl("${operator}",
TORCH_FN(${wrapper}));
//// calling, since 2.4
namespace {

${declarator} {
  ${check}

  ${guard}
  return ${kernel}(${arguments});
}

} // anonymous namespace
//// unchecked, since 2.4
  // No device check
//// checks, since 2.4
std::optional<Device> common_device = std::nullopt;
(void)common_device; // Suppress unused variable warning
//// checked, since 2.4

  c10::impl::check_and_update_common_device(common_device, ${name}, "${wrapper}", "${name}");
//// unguarded, since 2.4
// DeviceGuard omitted
//// guarded, since 2.4
const OptionalDeviceGuard device_guard(device_of(${name}));
//// guarded_by_options, since 2.4

  const DeviceGuard device_guard(device_or_default(device));
//// copying, since 2.4
${declarator} {
  auto ${result} = ${functional}(${arguments});
  ${copies}
  return ${returned};
}
//// copy_of_list, since 2.4
    for (int64_t i = 0; i < ${result}.size(); ++i) {
        ${copy}(${result}[i], ${out}[i]);
    }
