// The headers of torch that generated graphs include, compiled once for all of them.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/generated/Functions.h>
#include <torch/library.h>
