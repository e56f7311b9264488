// The C++ of one BackendSelect kernel. families/sections.py explains the notation.
//// definition
// aten::${schema}
C10_ALWAYS_INLINE
${returns} ${kernel}(${parameters}) {
  DispatchKeySet ${keys}
  return at::_ops::${struct}::redispatch(
      _dk${,arguments});
}
//// keys
_dk = c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device));
//// keys_of_tensors
_dk_set = c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device)) | c10::detail::multi_dispatch_key_set(${tensors});
DispatchKeySet _dk_mask = c10::DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect);
DispatchKeySet _dk = c10::impl::computeDispatchKeySet(_dk_set, _dk_mask);
