"""Family: the C++ functions and methods of operators: `ops/add.h`, `core/TensorBody.h`, `RedispatchFunctions.h`. A unit
is one function.

torchgen: `gen.gen_headers`, `gen.gen_per_operator_headers`.
"""
