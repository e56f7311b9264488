// The C++ of functionalization's kernels. families/sections.py explains the notation.
//// include
#include <ATen/ops/${base}_native.h>
#include <ATen/ops/${base}_ops.h>
//// registration
m.impl("${operator}", TORCH_FN(functionalization::${kernel}));
//// registration_of_composed
m.impl("${operator}", static_cast<${pointer}>(at::native::${kernel}));
//// inverse
static at::Tensor ${struct}_inverse(${parameters});
//// index
//<2.9 int64_t mutated_view_idx
//>=2.9 int64_t out_index
//// unwrap

      ${type} ${name}_;
      if (at::functionalization::impl::isFunctionalTensor(${name})) {
        ${sync}
        ${name}_ = at::functionalization::impl::from_functional_tensor(${name});
      } else {
        ${name}_ = ${plain};
      }
//// sync
at::functionalization::impl::sync(${name});
//// to_meta
auto ${name}_meta = to_meta(${name});
//// mutation

    ${returns} ${kernel}(${parameters}) {
//<2.7       if (${runs_on_meta}) {
//>=2.7       if (${runs_on_meta} && !disable_meta_reference()) {
        // Before converting the mutable op to its functional variant, run meta tensors through the original op.
        // This will help us catch shape errors that apply to inplace ops that wouldn't apply to their functional variants.
        // (We can only do this for inplace ops today though, because they technically all support meta tensors).
        ${to_meta}
        at::AutoDispatchSkipFunctionalize func_guard;
        c10::impl::ExcludeDispatchKeyGuard guard(exclude_keys_for_meta_dispatch);
        at::_ops::${struct}::call(${meta_arguments});
      }
      ${unwrap}
      if (!(${all_functional})) {
        // We want to disable this check if there are any XLA tensors.
        // cpu_tensor.copy_(xla_tensor) is valid code.
        if (!(${any_xla}) && (${any_functional})) {
         // case 1: trying to mutate a non functional tensor with a functional tensor is an error
         TORCH_INTERNAL_ASSERT(false,
           "mutating a non-functional tensor with a functional tensor is not allowed.",
           " Please ensure that all of your inputs are wrapped inside of a functionalize() call.");
        } else {
         // case 2: arguments are not functional tensors, so we no-op and redispatch.
         at::AutoDispatchSkipFunctionalize guard;
         ${assigned}at::_ops::${struct}::call(${arguments});
         ${returned}
        }
      } else {
        ${functional_result} tmp_output;
        {
          at::AutoDispatchSkipFunctionalize guard;
          tmp_output = at::_ops::${functional}::call(${functional_arguments});
        }
        ${updates}
    ${functional_returned}
      }
    }
//// fresh
  auto output_${number} = at::functionalization::impl::to_functional_tensor(${result});
//// written
//<2.5   at::functionalization::impl::propagate_xla_data(${argument}, ${result});
//>=2.5   auto ${argument}_inner = at::functionalization::impl::from_functional_tensor(${argument});
  at::functionalization::impl::replace_(${argument}, ${result});
  at::functionalization::impl::commit_update(${argument});
  at::functionalization::impl::sync(${argument});
//>=2.5   auto ${argument}_inner_updated = at::functionalization::impl::from_functional_tensor(${argument});
//>=2.5   at::functionalization::impl::propagate_xla_data_direct(${argument}_inner, ${argument}_inner_updated);
//// symbolic

      bool has_symbolic_inputs = false;
      ${statements}
//// symbolic_input
has_symbolic_inputs = has_symbolic_inputs | (${symbolic});
//// view_meta
//<2.9 at::functionalization::ViewMeta view_meta = at::functionalization::ViewMeta(
//<2.9         [${captures}](const at::Tensor & base, int64_t mutated_view_idx) -> at::Tensor {
//<2.9           if (reapply_views) {
//<2.9             return at::_ops::${view}::call(${replayed})${index};
//<2.9           } else {
//<2.9             return at::_ops::${copy}::call(${replayed})${index};
//<2.9           }
//<2.9         },
//<2.9         [${inverse_captures}](const at::Tensor & base, const at::Tensor & mutated_view, int64_t mutated_view_idx) -> at::Tensor {
//<2.9           return at::functionalization::FunctionalInverses::${view}_inverse(${inverse_arguments});
//<2.9         },
//<2.9         /*has_symbolic_inputs=*/has_symbolic_inputs${properties}
//<2.9       );
//>=2.9 auto view_meta = std::make_shared<at::functionalization::${class}>(${members});
//// properties
,
        /*is_multi_output=*/${is_list},
        /*is_as_strided=*/${is_as_strided}
//// inplace_view

    ${returns} ${kernel}(${parameters}) {
      if (!at::functionalization::impl::isFunctionalTensor(${tensor})) {
        // functionalization is re-entrant, but will no-op if it wasn't passed a FunctionalTensorWrapper.
        ${unwrap}
        at::AutoDispatchSkipFunctionalize guard;
        return at::_ops::${struct}::call(${arguments});
      }
      auto reapply_views = at::functionalization::impl::getFunctionalizationReapplyViewsTLS();
      auto inverse_return_mode = (
          reapply_views ? at::functionalization::InverseReturnMode::ViewOrScatterInverse
            : at::functionalization::InverseReturnMode::NeverView
      );
      ${symbolic}
      ${view_meta}
      auto compute_reference_meta =
        ${tensor}.key_set().has_backend(c10::BackendComponent::XLABit) ||
        ${tensor}.key_set().has_backend(c10::BackendComponent::LazyBit);
      ${result} reference_tensor_output;
//<2.7       if (compute_reference_meta) {
//>=2.7       if (compute_reference_meta && !disable_meta_reference()) {
        ${to_meta}
        at::AutoDispatchSkipFunctionalize func_guard;
        c10::impl::ExcludeDispatchKeyGuard guard(exclude_keys_for_meta_dispatch);
        reference_tensor_output = at::_ops::${struct}::call(${meta_arguments});
      }
      // This function adds the above view meta to the current tensor and replays them off the base,
      // mutating the size/stride info of the current FunctionalTensorWrapper.
      // Because of this, we need to make sure to run the reference shape function above,
//<2.8       // BEFORE doing this (otherwise we'll end up runnin the reference function using the wrong sizes/strides)
//>=2.8       // BEFORE doing this (otherwise we'll end up running the reference function using the wrong sizes/strides)
      at::functionalization::impl::mutate_view_meta(${tensor}, view_meta);
      // See  Note [Propagating strides in the functionalization pass]
      // XLA/LTC don't implement the logic to propagate strides correctly, so we need to rely
      // on a reference implementation here (instead of relying on the output from the forward lambda
      // having the correct stride info)
//<2.7       if (compute_reference_meta) {
//>=2.7       if (compute_reference_meta && !disable_meta_reference()) {
        at::functionalization::impl::set_sizes_strides_offset(${tensor}, reference_tensor_output);
      }
      return ${tensor};
    }
//// view

    ${returns} ${kernel}(${parameters}) {
      ${unwrap}
      if (!at::functionalization::impl::isFunctionalTensor(${tensor})) {
        // functionalization is re-entrant, but will no-op if it wasn't passed a FunctionalTensorWrapper.
        at::AutoDispatchSkipFunctionalize guard;
        return at::_ops::${struct}::call(${arguments});
      }
      auto reapply_views = at::functionalization::impl::getFunctionalizationReapplyViewsTLS();
      auto inverse_return_mode = (
          reapply_views ? at::functionalization::InverseReturnMode::ViewOrScatterInverse
            : at::functionalization::InverseReturnMode::NeverView
      );
      auto compute_reference_meta =
        ${tensor}.key_set().has_backend(c10::BackendComponent::XLABit) ||
        ${tensor}.key_set().has_backend(c10::BackendComponent::LazyBit);
      ${result} reference_tensor_output;
//<2.7       if (compute_reference_meta) {
//>=2.7       if (compute_reference_meta && !disable_meta_reference()) {
        ${to_meta}
        at::AutoDispatchSkipFunctionalize func_guard;
        c10::impl::ExcludeDispatchKeyGuard guard(exclude_keys_for_meta_dispatch);
        reference_tensor_output = at::_ops::${struct}::call(${meta_arguments});
      }
      ${result} tmp_output;
      {
        at::AutoDispatchSkipFunctionalize guard;
        if (reapply_views) {
          tmp_output = at::_ops::${struct}::call(${arguments});
        } else {
          tmp_output = at::_ops::${copy}::call(${arguments});
        }
      }
      ${symbolic}
      ${view_meta}
      auto out = at::functionalization::impl::create_functional_tensor_with_view_meta(tmp_output, ${tensor}, view_meta);
      // See  Note [Propagating strides in the functionalization pass]
//<2.7       if (compute_reference_meta) {
//>=2.7       if (compute_reference_meta && !disable_meta_reference()) {
        at::functionalization::impl::set_sizes_strides_offset(out, reference_tensor_output);
      }
      return out;
    }
