// The C++ of wrappers of kernels, without empty lines: upstream leaves them out. families/sections.py explains the
// notation.
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
//// registered_class
m.impl("${operator}", TORCH_FN(${name}));
//// library
TORCH_LIBRARY_IMPL(${library}, ${key}, m) {
    ${first}
${others}
//<2.6 };
//>=2.6 }
