// The C++ of headers of kernels. families/sections.py explains the notation.
//// include
#include <ATen/ops/${name}${suffix}.h>
//// function
${macro}${returns} ${kernel}(${parameters});
//// class
struct ${macro}structured_${kernel} : public at::meta::structured_${meta} {
void impl(${parameters});
};
//// class_with_meta
struct structured_${kernel} : public at::meta::structured_${meta} {
using base = at::meta::structured_${meta};
${returned} meta(${meta_parameters});
void impl(${parameters});
};
//// meta
struct TORCH_API structured_${name} : public ${base} {
    ${precomputed}
    ${returned}
    ${returns} meta(${parameters});
};
//// precomputed

                template <${flags}>
                struct TORCH_API precompute_out {
                    ${setters}
                    ${members};
            };
//// setter

                    precompute_out<${flags}> set_${name}(${type} value) {
                        static_assert(${flag} == false, "${name} already set");
                        precompute_out<${flags}> ret;
${copied}
return ret;
                    }
//// returned
using meta_return_ty = precompute_out <${flags}>;
