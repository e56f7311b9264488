"""For other build systems: rules that call gradmill, and the worker of Bazel."""
