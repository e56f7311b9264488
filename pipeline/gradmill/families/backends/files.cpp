// The C++ of a backend's files around its functions. families/sections.py explains the notation.
//// lazy_header
#include <${folder}/${class}.h>
//// stubs_header
#include "${folder}/${class}.h"
//// ops_headers
#include <ATen/Functions.h>
//// deferred_dispatch_registrations
TORCH_API void RegisterTorchScript${key}NativeFunctions();
TORCH_API void RegisterTorchScript${key}NativeFunctions() {
    static auto m = MAKE_TORCH_LIBRARY_IMPL(aten, ${key});
    ${body}
}
//// static_init_dispatch_registrations
TORCH_LIBRARY_IMPL(aten, ${key}, m) {
    ${body}
//<2.6 };
//>=2.6 }
