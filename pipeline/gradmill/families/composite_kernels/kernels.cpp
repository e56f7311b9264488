// The C++ of the kernels that call other functions. families/sections.py explains the notation.
//// include_of_view
#include <ATen/ops/${base}_ops.h>
#include <ATen/ops/${base}_native.h>
//// include_of_variant
#include <ATen/ops/${base}_ops.h>
//>=2.5 #include <ATen/ops/${base}_native.h>
//// by_reshape
at::Tensor view_copy_symint(const at::Tensor & self, at::SymIntArrayRef size) {
  c10::SymDimVector shape = infer_size_dv(size, self.sym_numel());
  if (!at::detail::computeStride(self.sym_sizes(), self.sym_strides(), shape).has_value()) {
    return self.reshape_symint(size);
  } else {
    auto output = at::_ops::view::call(self, size);
    return output.clone(/*memory_format=*/at::MemoryFormat::Contiguous);
  }
}

//// copy

${returns} ${name}(${parameters}) {
  auto output = at::_ops::${struct}::call(${arguments});
    return output.clone(/*memory_format=*/at::MemoryFormat::Contiguous);
}

//// copies

${returns} ${name}(${parameters}) {
  auto output = at::_ops::${struct}::call(${arguments});
    ${returns} out_clone;
  for (const auto i : c10::irange(output.size())) {
    out_clone.push_back(output[i].clone(/*memory_format=*/at::MemoryFormat::Contiguous));
  }
  return out_clone;
}

//// functional

${returns} ${name}(${parameters}) {
  ${clones}
  ${assigned}at::_ops::${struct}::call(${arguments});
  ${returned}
}

//// clone
auto ${argument}_clone = clone_arg(${argument});
//// out

${returns} ${name}(${parameters}) {
  auto tmp_output = at::_ops::${struct}::call(${arguments});
  ${copies}
  ${returned}
}

//// copy_of_result
  resize_out_helper(${out}, ${result});
  copy_arg(${out}, ${result});
