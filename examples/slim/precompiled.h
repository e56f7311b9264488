// In place of ../precompiled.h for sets with upstream's templates: FunctionsManual.h then includes the generated
// Functions.h, so it is not precompiled.

#include <ATen/ATen.h>
#include <ATen/TensorGeometry.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
