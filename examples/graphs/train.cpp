// Trains the model of model.py without Python: the generated graph computes the loss and its gradients. It reads
// start.safetensors, constants.safetensors and data.safetensors in FOLDER, and writes trained.safetensors, and the
// state of the optimizer, optimizer.pt. With --resume, it continues from these two.
//
//   train FOLDER [sgd|adam|adamw] [--rate=R] [--clip=NORM] [--steps=N] [--every=N] [--resume]

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/serialize/archive.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
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
  bool resume = false;
};

Options options_of(int argc, char** argv) {
  Options options;
  TORCH_CHECK(argc > 1, "train FOLDER [sgd|adam|adamw] [--rate=R] [--clip=NORM] [--steps=N] [--every=N] [--resume]");
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
      } else if (word == "--resume") {
        options.resume = true;
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

// By what an optimizer's state is recognized as that of these parameters: the sum of each.
at::Tensor sums_of(const std::vector<at::Tensor>& trained) {
  std::vector<at::Tensor> sums;
  for (const at::Tensor& each : trained) {
    sums.push_back(each.detach().sum(at::kDouble));
  }
  return at::stack(sums);
}

// Writes the optimizer's state, and the steps done. The file is replaced when it is complete.
void save_optimizer(
    const std::string& path,
    const torch::optim::Optimizer& optimizer,
    const std::string& kind,
    long steps,
    const at::Tensor& sums) {
  torch::serialize::OutputArchive archive, state(archive.compilation_unit());
  optimizer.save(state);
  archive.write("state", state);
  archive.write("kind", c10::IValue(kind));
  archive.write("steps", c10::IValue(static_cast<int64_t>(steps)));
  archive.write("sums", sums);
  archive.save_to(path + ".tmp");
  std::filesystem::rename(path + ".tmp", path);
}

// Reads what `save_optimizer` wrote, the options of the optimizer included. Returns the steps done.
long load_optimizer(
    const std::string& path,
    torch::optim::Optimizer& optimizer,
    const std::string& kind,
    const at::Tensor& sums) {
  TORCH_CHECK(std::filesystem::exists(path), path, ": it is missing: train without --resume first");
  torch::serialize::InputArchive archive, state;
  try {
    archive.load_from(path);
  } catch (const c10::Error&) {
    TORCH_CHECK(false, path, ": it cannot be read: it is truncated, or another file");
  }
  c10::IValue of, steps;
  at::Tensor saved;
  archive.read("kind", of);
  archive.read("steps", steps);
  archive.read("sums", saved);
  TORCH_CHECK(of.toStringRef() == kind, path, ": it is the state of ", of.toStringRef(), ", not of ", kind);
  TORCH_CHECK(at::equal(saved, sums), path, ": it does not belong to trained.safetensors");
  archive.read("state", state);
  optimizer.load(state);
  return steps.toInt();
}

void train(const Options& options) {
  const std::string trained_path = options.folder + "/trained.safetensors";
  const std::string state_path = options.folder + "/optimizer.pt";

  net::net_parameters parameters;
  net::net_buffers buffers;
  net::net_constants constants;
  const std::string start = options.resume ? trained_path : options.folder + "/start.safetensors";
  state::load(start, {entries(parameters), entries(buffers)});
  state::load(options.folder + "/constants.safetensors", {entries(constants)});
  const auto data = state::read(options.folder + "/data.safetensors");
  TORCH_CHECK(data.count("images") && data.count("labels"), "data.safetensors has no images or no labels");
  const auto images = data.at("images").split(32), labels = data.at("labels").split(32);

  const std::vector<at::Tensor> trained = state::trained(entries(parameters));
  const auto optimizer = optimizer_of(options, trained);
  const long first = options.resume ? load_optimizer(state_path, *optimizer, options.optimizer, sums_of(trained)) : 0;
  const long end = first + options.steps;
  for (long step = first; step < end; ++step) {
    const size_t batch = step % images.size();
    optimizer->zero_grad();
    const at::Tensor loss = net::net(parameters, buffers, constants, images[batch], labels[batch]);
    loss.backward();
    if (options.clip > 0) {
      torch::nn::utils::clip_grad_norm_(trained, options.clip);
    }
    optimizer->step();
    if (step % options.every == 0 || step + 1 == end) {
      std::printf("step %4ld  loss %.9g\n", step, loss.item<double>());
    }
  }
  state::save(trained_path, {entries(parameters), entries(buffers)});
  save_optimizer(state_path, *optimizer, options.optimizer, end, sums_of(trained));
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
