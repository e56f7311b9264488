// The C++ of structured kernels, without empty lines: upstream leaves them out. families/sections.py explains the
// notation.
//// class
struct ${name} final : public ${base} {
    ${constructor}
    void set_output_strided(
        int64_t output_idx, IntArrayRef sizes, IntArrayRef strides,
//<2.13         TensorOptions options, DimnameList names
//>=2.13         TensorOptions options
    ) override {
        ${strided}
//<2.13         if (!names.empty()) {
//<2.13           namedinference::propagate_names(outputs_[output_idx], names);
//<2.13         }
        // super must happen after, so that downstream can use maybe_get_output
        // to retrieve the output
        ${base_call}
    }
    void set_output_raw_strided(
        int64_t output_idx, IntArrayRef sizes, IntArrayRef strides,
//<2.13         TensorOptions options, DimnameList names
//>=2.13         TensorOptions options
    ) override {
        ${raw_strided}
//<2.13         if (!names.empty()) {
//<2.13           namedinference::propagate_names(outputs_[output_idx], names);
//<2.13         }
        // super must happen after, so that downstream can use maybe_get_output
        // to retrieve the output
        ${base_call}
    }
    const Tensor& maybe_get_output(int64_t output_idx) override {
      return ${output};
    }
    std::array<${output_type}, ${returns}> outputs_;
    ${fields}
};
//// base_call
//<2.13 ${base}::set_output_raw_strided(output_idx, sizes, strides, options, names);
//>=2.13 ${base}::set_output_raw_strided(output_idx, sizes, strides, options);
//// set_guard
auto current_device = guard_.current_device();
if (C10_UNLIKELY(current_device.has_value())) {
  TORCH_INTERNAL_ASSERT(*current_device == options.device(),
    "structured kernels don't support multi-device outputs");
} else {
  guard_.reset_device(options.device());
}
//// functional
outputs_[output_idx] = create_out(sizes, strides, options);
//// inplace
const auto& out = outputs_[output_idx].get();
check_inplace(out, sizes, options);
//// out
const auto& out = outputs_[output_idx].get();
resize_out(out, sizes, strides, options);
//// proxy
auto maybe_proxy = maybe_create_proxy(out, sizes, strides, options);
if (C10_UNLIKELY(maybe_proxy.has_value())) {
    proxy_outputs_[output_idx] = std::move(maybe_proxy).value();
}
//// proxied
if (op.proxy_outputs_[${i}].has_value()) op.outputs_[${i}].get().copy_(*op.proxy_outputs_[${i}]);
//// tried_ahead
// native-AOT: the last conjunct is the LAUNCH, not a query -- it runs the
// AOT kernel into the meta()-allocated outputs and returns true if it
// handled the call, false if it declined this shape. && short-circuits, so
// the stub is never called when AOT is switched off or the device is
// unsupported. op.impl below is the ordinary aten kernel, and it runs in
// exactly those three cases: switched off, unsupported device, or declined.
if (!(at::globalContext().allowNativeAot() && at::native::${name}_aot_stub.is_device_supported(c10::DeviceType::${key}) && at::native::${name}_aot_stub(c10::DeviceType::${key}, ${arguments}))) { ${call} }
//// implemented_ahead
// native-AOT: the last conjunct is the LAUNCH, not a query -- it runs the
// AOT kernel into the meta()-allocated outputs and returns true if it
// handled the call, false if it declined this shape. && short-circuits, so
// the stub is never called when the device is unsupported. op.impl
// below is the ordinary aten kernel.
// declared UNCONDITIONAL: these kernels are the implementation, so
// torch._native.set_aot_enabled(False) does NOT mask them -- only the
// private reference-computation hatch does. op.impl runs when that hatch
// is set, when the device is unsupported, or when the kernels decline
// this shape.
if (!(!at::globalContext().maskUnconditionalNativeAot() && at::native::${name}_aot_stub.is_device_supported(c10::DeviceType::${key}) && at::native::${name}_aot_stub(c10::DeviceType::${key}, ${arguments}))) { ${call} }
