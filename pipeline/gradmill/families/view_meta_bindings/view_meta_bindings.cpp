//// binding, since 2.9
  create_binding_with_pickle<at::functionalization::${name}>(functionalization);
