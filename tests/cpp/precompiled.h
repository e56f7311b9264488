#pragma once

// The headers of torch that every file of the library includes, compiled once.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
