"""Types of functions with names in CamelCase, one for each name: of declarations that share a name, the longest."""

TYPE = "using %s = %s (*)(%s);\n"


def header(functions):
    longest = {}
    for function in functions:
        name = camel(function)
        text = TYPE % (name, function.returns, ", ".join(each.cpp_type for each in function.arguments))
        if len(text) > len(longest.get(name, "")):
            longest[name] = text
    return "".join(longest.values())


def camel(function):
    """`add_.Tensor` is AddInplaceTensorFn, `add.out` AddOutFn; names without an overload are as those without a dot."""
    base = function.base.strip("_").split("_")
    words = [*base, *(["inplace"] if function.kind == "inplace" else []), *function.overload.split("_")]
    return "".join(word[:1].upper() + word[1:] for word in words) + "Fn"
