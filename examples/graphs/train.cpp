// Trains the model of model.py without Python: the generated graph computes the loss and its gradients. It reads
// start.safetensors, constants.safetensors and data.safetensors in FOLDER, and writes trained.safetensors.
//
//   train FOLDER [sgd|adam|adamw] [--rate=R] [--clip=NORM] [--steps=N] [--every=N]

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "graphs/net.state.h"

namespace net = gradmill::graphs::net;
namespace state = gradmill::state;

namespace {

struct Options {
  std::string folder;
  std::string optimizer = "adamw";
  double rate = 0.003;
  double clip = 0; // the largest norm of all gradients; 0: any
  long steps = 100;
  long every = 10; // steps from one printed loss to the next
};

Options options_of(int argc, char** argv) {
  Options options;
  TORCH_CHECK(argc > 1, "train FOLDER [sgd|adam|adamw] [--rate=R] [--clip=NORM] [--steps=N] [--every=N]");
  options.folder = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t place = word.find('=');
    const std::string name = word.substr(0, place), value = place == std::string::npos ? "" : word.substr(place + 1);
    try {
      if (name == "--rate") {
        options.rate = std::stod(value);
      } else if (name == "--clip") {
        options.clip = std::stod(value);
      } else if (name == "--steps") {
        options.steps = std::stol(value);
      } else if (name == "--every") {
        options.every = std::max(std::stol(value), 1L);
      } else {
        options.optimizer = word;
      }
    } catch (const std::logic_error&) {
      TORCH_CHECK(false, word, ": this is no number");
    }
  }
  return options;
}

std::unique_ptr<torch::optim::Optimizer> optimizer_of(const Options& options, const std::vector<at::Tensor>& trained) {
  namespace optim = torch::optim;
  if (options.optimizer == "sgd") {
    return std::make_unique<optim::SGD>(trained, optim::SGDOptions(options.rate).momentum(0.9));
  }
  if (options.optimizer == "adam") {
    return std::make_unique<optim::Adam>(trained, optim::AdamOptions(options.rate));
  }
  TORCH_CHECK(options.optimizer == "adamw", options.optimizer, ": this is none of sgd, adam and adamw");
  return std::make_unique<optim::AdamW>(trained, optim::AdamWOptions(options.rate).weight_decay(0.01));
}

void train(const Options& options) {
  net::net_parameters parameters;
  net::net_buffers buffers;
  net::net_constants constants;
  state::load(options.folder + "/start.safetensors", {entries(parameters), entries(buffers)});
  state::load(options.folder + "/constants.safetensors", {entries(constants)});
  const auto data = state::read(options.folder + "/data.safetensors");
  TORCH_CHECK(data.count("images") && data.count("labels"), "data.safetensors has no images or no labels");
  const auto images = data.at("images").split(32), labels = data.at("labels").split(32);

  const std::vector<at::Tensor> trained = state::trained(entries(parameters));
  const auto optimizer = optimizer_of(options, trained);
  for (long step = 0; step < options.steps; ++step) {
    const size_t batch = step % images.size();
    optimizer->zero_grad();
    const at::Tensor loss = net::net(parameters, buffers, constants, images[batch], labels[batch]);
    loss.backward();
    if (options.clip > 0) {
      torch::nn::utils::clip_grad_norm_(trained, options.clip);
    }
    optimizer->step();
    if (step % options.every == 0 || step + 1 == options.steps) {
      std::printf("step %4ld  loss %.9g\n", step, loss.item<double>());
    }
  }
  state::save(options.folder + "/trained.safetensors", {entries(parameters), entries(buffers)});
}

} // namespace

int main(int argc, char** argv) {
  try {
    train(options_of(argc, argv));
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "%s\n", error.what_without_backtrace());
    return 1;
  }
}
