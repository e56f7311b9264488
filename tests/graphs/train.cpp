// Ten steps of SGD with a graph's forward and backward, without Python: train MODEL IN OUT.
// IN has the inputs in the graph's order, those that are trained first; OUT gets them as they are in the end, and the
// losses. What stands before this text includes the headers, and has `MODELS`: each one's name, how many of its inputs
// are trained, and the call, with `t` for the inputs.

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/serialize.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Tensors = std::vector<at::Tensor>;

Tensors read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const at::IValue value = torch::pickle_load(bytes);
  Tensors results;
  for (const at::IValue& each : value.toListRef()) {
    results.push_back(each.toTensor());
  }
  return results;
}

void write(const char* path, const Tensors& tensors) {
  const std::vector<char> bytes = torch::pickle_save(at::IValue(tensors));
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

at::Tensor loss_of(const std::string& model, const Tensors& t) {
#define MODEL(name, parameters, call) \
  if (model == #name) {               \
    return call;                      \
  }
  MODELS
#undef MODEL
  TORCH_CHECK(false, "no model ", model);
}

size_t parameters_of(const std::string& model) {
#define MODEL(name, parameters, call) \
  if (model == #name) {               \
    return parameters;                \
  }
  MODELS
#undef MODEL
  TORCH_CHECK(false, "no model ", model);
}

} // namespace

int main(int argc, char** argv) {
  TORCH_CHECK(argc == 4, "train MODEL IN OUT");
  const std::string model = argv[1];
  Tensors t = read(argv[2]);
  const size_t count = parameters_of(model);
  for (size_t i = 0; i < count; ++i) {
    t[i].requires_grad_();
  }
  Tensors losses;
  for (int step = 0; step < 10; ++step) {
    const at::Tensor loss = loss_of(model, t);
    losses.push_back(loss.detach().clone());
    const auto gradients = torch::autograd::grad({loss}, Tensors(t.begin(), t.begin() + count));
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < count; ++i) {
      t[i].sub_(gradients[i], 0.1);
    }
  }
  Tensors results;
  for (const at::Tensor& tensor : t) {
    results.push_back(tensor.detach());
  }
  results.insert(results.end(), losses.begin(), losses.end());
  write(argv[3], results);
}
