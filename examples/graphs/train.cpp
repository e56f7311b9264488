// Trains the model of model.py without Python: the generated graph computes forward and backward.

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/serialize.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "graphs/net.h"

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "start.pt", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const at::IValue value = torch::pickle_load(bytes);
  std::vector<at::Tensor> t;
  for (const at::IValue& each : value.toListRef()) {
    t.push_back(each.toTensor());
  }
  const std::vector<at::Tensor> weights(t.begin(), t.begin() + 4);
  for (const at::Tensor& weight : weights) {
    weight.requires_grad_();
  }
  for (int step = 0; step <= 500; ++step) {
    const at::Tensor loss = gradmill::graphs::net::net(t[0], t[1], t[2], t[3], t[4], t[5]);
    const auto gradients = torch::autograd::grad({loss}, weights);
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i].sub_(gradients[i], 0.2);
    }
    if (step % 100 == 0) {
      std::printf("step %3d  loss %.6f\n", step, loss.item<double>());
    }
  }
}
