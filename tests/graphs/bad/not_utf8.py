def f(x) -> "ÿş":
    return x
