// The headers of torch that graphs and Nodes include, compiled once for all tests.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/generated/Functions.h>
#include <torch/library.h>
