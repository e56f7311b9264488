// The C++ of one operator. families/sections.py explains the notation.
//// declaration

struct TORCH_API ${struct} {
  using schema = ${returns} (${types});
  using ptr_schema = schema*;
  // See Note [static constexpr char* members for windows NVCC]
//<2.6   STATIC_CONSTEXPR_STR_INL_EXCEPT_WIN_CUDA(name, "aten::${name}")
//<2.6   STATIC_CONSTEXPR_STR_INL_EXCEPT_WIN_CUDA(overload_name, "${overload}")
//<2.6   STATIC_CONSTEXPR_STR_INL_EXCEPT_WIN_CUDA(schema_str, ${literal})
//>=2.6   static constexpr const char* name = "aten::${name}";
//>=2.6   static constexpr const char* overload_name = "${overload}";
//>=2.6   static constexpr const char* schema_str = ${literal};
  static ${returns} call(${parameters});
  static ${returns} redispatch(c10::DispatchKeySet dispatchKeySet${,parameters});
};
//// definition
//<2.6 
//<2.6 STATIC_CONST_STR_OUT_OF_LINE_FOR_WIN_CUDA(${struct}, name, "aten::${name}")
//<2.6 STATIC_CONST_STR_OUT_OF_LINE_FOR_WIN_CUDA(${struct}, overload_name, "${overload}")
//<2.6 STATIC_CONST_STR_OUT_OF_LINE_FOR_WIN_CUDA(${struct}, schema_str, ${literal})

// aten::${schema}
static C10_NOINLINE c10::TypedOperatorHandle<${struct}::schema> create_${struct}_typed_handle() {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(${struct}::name, ${struct}::overload_name)
      .typed<${struct}::schema>();
}

// aten::${schema}
${returns} ${struct}::call(${parameters}) {${body}}

// aten::${schema}
${returns} ${struct}::redispatch(c10::DispatchKeySet dispatchKeySet${,parameters}) {
    
    static auto op = create_${struct}_typed_handle();
    return op.redispatch(dispatchKeySet${,arguments});
}
//// dispatched

    
    static auto op = create_${struct}_typed_handle();
    return op.call(${arguments});
//// switch

    
    DispatchKeySet _dk_set = ${sets};
		DispatchKey _dk = c10::highestPriorityBackendTypeId(_dk_set);
    switch (_dk) {${cases}
        default:
            ${composite}
    }
    
