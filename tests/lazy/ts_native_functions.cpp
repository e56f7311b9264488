// In the place of the kernels that a backend writes by hand: a definition of each, with the name that is looked for.
at::Tensor LazyNativeFunctions::max_pool2d_with_indices() { return {}; }
at::Tensor LazyNativeFunctions::zeros() { return {}; }
at::Tensor LazyNativeFunctions::empty_symint() { return {}; }
at::Tensor LazyNativeFunctions::fill_() { return {}; }
at::Tensor LazyNativeFunctions::mul() { return {}; }
at::Tensor LazyNativeFunctions::mul_() { return {}; }
at::Tensor LazyNativeFunctions::logsumexp_out() { return {}; }
at::Tensor LazyNativeFunctions::topk() { return {}; }
at::Tensor LazyNativeFunctions::constant_pad_nd_symint() { return {}; }
at::Tensor LazyNativeFunctions::_to_copy() { return {}; }
at::Tensor LazyNativeFunctions::index() { return {}; }
at::Tensor LazyNativeFunctions::_foreach_norm() { return {}; }
at::Tensor LazyNativeFunctions::pixel_shuffle() { return {}; }
at::Tensor LazyNativeFunctions::native_layer_norm() { return {}; }
at::Tensor LazyNativeFunctions::lerp() { return {}; }
