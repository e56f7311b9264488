"""Functions that are registered with the dispatcher: they check the devices of tensors, and call a kernel."""

WRAPPER = """\
namespace {
%(returns)s %(name)s(%(parameters)s) {
%(checks)s
  return hooked::PrivateUse1NativeFunctions::%(kernel)s(%(passed)s);
}
} // anonymous namespace"""
CHECK = '  c10::impl::check_and_update_common_device(common_device, %(tensor)s, "%(name)s", "%(tensor)s");'


def header(functions):
    """The declarations of the kernels, each once."""
    return "".join(f"{line}\n" for line in sorted({f"static {declared(each)};" for each in functions}))


def source(functions):
    """The wrappers and their registrations."""
    texts = [*map(wrapper, functions), *map(registration, functions)]
    return "".join(f"{text}\n" for text in texts)


def wrapper(function):
    symint = "symint" in function.lists
    return WRAPPER % {
        "returns": function.returns,
        "name": name_of(function),
        "parameters": ", ".join(f"{each.cpp_type} {each.name}" for each in function.arguments),
        "checks": checks(function),
        "kernel": kernel(function),
        "passed": ", ".join(each.name if symint else each.passed for each in function.arguments),
    }


def checks(function):
    """What makes sure that all tensors are on one device, and makes it the current one."""
    order = {"out": 0, "self": 1, "positional": 1}
    taken = sorted((each for each in function.arguments if each.place in order), key=lambda each: order[each.place])
    tensors = [each.name for each in taken if "Tensor" in each.type]
    if not function.device_check:
        lines = ["  // No device check"]
    else:
        lines = ["std::optional<Device> common_device = std::nullopt;"]
        lines.append("(void)common_device; // Suppress unused variable warning")
        lines += [CHECK % {"tensor": tensor, "name": name_of(function)} for tensor in tensors]
    guarded = [each.name for each in function.arguments if each.place == "self" and "Tensor" in each.type] or tensors
    if function.device_guard and guarded:
        lines.append(f"  const OptionalDeviceGuard device_guard(device_of({guarded[0]}));")
    else:
        lines.append("  // DeviceGuard omitted")
    return "\n".join(lines)


def registration(function):
    return f'm.impl("{function.operator}",\nTORCH_FN({name_of(function)}));'


def name_of(function):
    return f"wrapper_PrivateUse1_{function.overload}_{function.cpp_name}"


def kernel(function):
    takes_symint = any("SymInt" in each.type for each in function.arguments)
    return function.cpp_name + ("_symint" if takes_symint and "symint" in function.lists else "")


def declared(function):
    """The signature of the kernel."""
    symint = "symint" in function.lists
    parameters = [f"{each.cpp_type if symint else each.kernel_type} {each.name}" for each in function.arguments]
    return f"{function.returns} {kernel(function)}({', '.join(parameters)})"
