// The C++ of a ufunc's kernels. families/sections.py explains the notation.
//// cpu

using ${name}_fn = void(*)(TensorIteratorBase&, ${types});
//<2.6 DECLARE_DISPATCH(${name}_fn, ${name}_stub);
//>=2.6 DECLARE_DISPATCH(${name}_fn, ${name}_stub)
DEFINE_DISPATCH(${name}_stub);

TORCH_IMPL_FUNC(${kernel})(${parameters}) {
  ${name}_stub(device_type(), *this, ${passed});
}
//// cpu_kernel

namespace {

void ${name}_kernel(TensorIteratorBase& iter, ${stub}) {
  AT_DISPATCH_SWITCH(iter.common_dtype(), "${name}_stub",
    ${cases}
  );
}

} // anonymous namespace

using ${name}_fn = void(*)(TensorIteratorBase&, ${types});
//<2.6 DECLARE_DISPATCH(${name}_fn, ${name}_stub);
//>=2.6 DECLARE_DISPATCH(${name}_fn, ${name}_stub)
//<2.6 REGISTER_DISPATCH(${name}_stub, &${name}_kernel);
//>=2.6 REGISTER_DISPATCH(${name}_stub, &${name}_kernel)
//// cuda

${functors}

using ${name}_fn = void(*)(TensorIteratorBase&, ${types});
//<2.6 DECLARE_DISPATCH(${name}_fn, ${name}_stub);
//>=2.6 DECLARE_DISPATCH(${name}_fn, ${name}_stub)

void ${name}_kernel(TensorIteratorBase& iter, ${stub}) {
  AT_DISPATCH_SWITCH(iter.common_dtype(), "${kernel}",
    ${cases}
  );
}
//<2.6 REGISTER_DISPATCH(${name}_stub, &${name}_kernel);
//>=2.6 REGISTER_DISPATCH(${name}_stub, &${name}_kernel)

TORCH_IMPL_FUNC(${kernel})(${parameters}) {
  ${name}_kernel(*this, ${passed});
}
//// case

AT_DISPATCH_CASE(at::ScalarType::${dtype},
  [&]() {
    ${body}
  }
)

//// scalars

${numbers}
cpu_kernel(iter,
  [=](${elements}) { return ${scalar}; }
);

//// vectors

${numbers}
cpu_kernel_vec(iter,
  [=](${elements}) { return ${scalar}; },
  [=](${vectors}) { return ${vector}; }
);

//// number
auto _s_${name} = ${name}.to<scalar_t>();
//// number_of_vectors
auto _v_${name} = at::vec::Vectorized<scalar_t>(_s_${name});
//// functor

template <typename scalar_t>
struct ${functor} {
  using opmath_t = at::opmath_type<scalar_t>;
  ${fields}
  ${functor}(${kept}) : ${initialized} {}
  __device__ scalar_t operator()(${applied}) const {
    return ${call};
  }
};

//// on_number
else if (iter.is_cpu_scalar(${operand})) {
  ${functor}<scalar_t> ufunctor(${arguments});
  iter.remove_operand(${operand});
  gpu_kernel(iter, ufunctor);
}
//// on_tensors

else {
  gpu_kernel(iter, ${functor}<scalar_t>(${arguments}));
}
