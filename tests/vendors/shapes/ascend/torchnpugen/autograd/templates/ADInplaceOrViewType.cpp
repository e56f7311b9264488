// ${generated_comment}
$ops_headers
${inplace_or_view_method_definitions}
TORCH_LIBRARY_IMPL(npu, ADInplaceOrView, m) {
  ${inplace_or_view_wrapper_registrations};
}
