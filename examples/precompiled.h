// The torch headers that every shard of the core Nodes includes; they are compiled once.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
