// Dispatch stubs of kernels that are compiled ahead of time. families/sections.py explains the notation.
//// declaration
using ${name}_aot_fn = bool (*)(${parameters});
DECLARE_DISPATCH(${name}_aot_fn, ${name}_aot_stub)
//// definition
DEFINE_DISPATCH(${name}_aot_stub);
REGISTER_NO_CPU_DISPATCH(${name}_aot_stub)
