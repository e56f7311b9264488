// The C++ functions and methods of one operator. families/sections.py explains the notation.
//// function

// aten::${schema}
inline ${returns} ${name}(${parameters}) {
    return at::_ops::${struct}::call(${arguments});
}
//// template
namespace symint {
//<2.6   template <typename T, typename = std::enable_if_t<std::is_same<T, ${integer}>::value>>
//>=2.6   template <typename T, typename = std::enable_if_t<std::is_same_v<T, ${integer}>>>
  ${returns} ${template}(${parameters}) {
    return at::_ops::${struct}::call(${arguments});
  }
}
//// redispatch

// aten::${schema}
inline ${returns} ${name}(${keyed_parameters}) {
    return at::_ops::${struct}::redispatch(${keyed_arguments});
}
//// method_declaration
${returns} ${name}(${parameters}) const;
//// method

// aten::${schema}
inline ${returns} Tensor::${name}(${defined}) const {
    return at::_ops::${struct}::call(${arguments});
}
