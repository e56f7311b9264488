"""Structured kernels: the classes that implement them, and the wrappers of all variants of their operators."""

CLASS = """\
struct structured_%(name)s : public at::meta::structured_%(meta)s {
void impl(%(parameters)s);
};
"""


def header(functions, named):
    """The classes of out variants. `named`: all functions."""
    return "".join(
        CLASS
        % {
            "name": out.name,
            "meta": variant(out, 0, named).name,
            "parameters": ", ".join(f"{each.type} {each.name}" for each in (*out.impl, *out.results)),
        }
        for out in sorted(functions, key=lambda each: each.name)
    )


def source(functions, named):
    return "".join(f"{wrapper(each, named)}\n" for each in functions)


def variant(function, place, named):
    """The functional variant of a function, 0, or the out variant, 1."""
    return named[function.namespace, function.group[place]]


def wrapper(function, named):
    """The wrapper of one variant: checks and allocates by the meta function, then calls the implementation."""
    out = variant(function, 1, named)
    outs = [each.name for each in function.arguments if each.place == "out"]
    on = {"functional": "", "out": f"({', '.join(outs)})", "inplace": "(self)"}[function.kind]
    results = range(len(function.results))
    if function.kind == "out":
        written = [f"op.maybe_get_output({i})" for i in results]
    else:
        written = [f"op.outputs_[{i}]" for i in results]
    given = [f"precompute.{each.name}" if each.precomputed else each.passed for each in function.impl]
    suffix = f"_{function.overload}" if function.overload else ""
    parameters = ", ".join(f"{each.kernel_type} {each.name}" for each in function.arguments)
    meta = ", ".join(each.passed for each in function.meta)
    lines = [
        f"{function.returns} wrapper_PrivateUse1_{function.cpp_name}{suffix}({parameters}) {{",
        f"structured_{out.name}_{function.kind} op{on};",
        f"{'auto precompute = ' if out.precomputed else ''}op.meta({meta});",
        *(["(void)precompute;"] if out.precomputed else []),
        f"op.impl({', '.join([*given, *written])});",
    ]
    if function.kind != "functional":
        proxies = [(f"op.proxy_outputs_[{i}]", f"op.outputs_[{i}].get()") for i in results]
        lines += [f"if ({proxy}.has_value()) {output}.copy_(*{proxy});" for proxy, output in proxies]
    return "\n".join([*lines, f"return {returned(function, outs, results)};", "}"])


def returned(function, outs, results):
    if function.kind == "inplace":
        return "self"
    if function.kind == "out":
        return outs[0] if len(outs) == 1 else f"std::forward_as_tuple({', '.join(outs)})"
    moved = [f"std::move(op.outputs_[{i}])" for i in results]
    return moved[0] if len(moved) == 1 else f"std::make_tuple({', '.join(moved)})"
