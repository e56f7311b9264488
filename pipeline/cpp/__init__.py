"""From operator schemas to the public C++ API: names, types, bindings."""
