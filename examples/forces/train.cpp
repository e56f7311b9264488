// Trains the potential of model.py on energies, forces and stresses, without Python. It reads start.safetensors,
// constants.safetensors and data.safetensors in FOLDER, and writes trained.safetensors, and what the trained potential
// predicts for the first frame, predicted.safetensors.
//
//   train FOLDER [sgd|adam] [--rate=R] [--steps=N]

#include <torch/csrc/autograd/autograd.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef BY_AUTOGRAD // the graph computes energies, and the program differentiates them
#include "graphs/energy.state.h"
namespace graph = gradmill::graphs::energy;
#else // the graph computes all
#include "graphs/potential.state.h"
namespace graph = gradmill::graphs::potential;
#endif
namespace state = gradmill::state;

namespace {

using Frame = std::map<std::string, at::Tensor>; // a batch of structures, and what is to be learned of them

struct Prediction {
  at::Tensor energies, forces, stresses;
};

#ifdef BY_AUTOGRAD

struct Model {
  graph::energy_parameters parameters;
  graph::energy_constants constants;

  Prediction operator()(const Frame& frame) {
    const at::Tensor positions = frame.at("positions").detach().requires_grad_();
    const at::Tensor strain = at::zeros_like(frame.at("cells")).requires_grad_();
    const at::Tensor energies = graph::energy(
        parameters,
        constants,
        positions,
        strain,
        frame.at("numbers"),
        frame.at("edges"),
        frame.at("shifts"),
        frame.at("cells"),
        frame.at("batch"));
    const auto gradients = torch::autograd::grad(
        {energies.sum()}, {positions, strain}, {}, /*retain_graph=*/std::nullopt, /*create_graph=*/true);
    const at::Tensor volumes = at::linalg_det(frame.at("cells")).abs();
    return {energies, -gradients[0], gradients[1] / volumes.view({-1, 1, 1})};
  }
};

#else

struct Model {
  graph::potential_parameters parameters;
  graph::potential_constants constants;

  Prediction operator()(const Frame& frame) {
    const auto [energies, forces, stresses] = graph::potential(
        parameters,
        constants,
        frame.at("positions"),
        frame.at("numbers"),
        frame.at("edges"),
        frame.at("shifts"),
        frame.at("cells"),
        frame.at("batch"));
    return {energies, forces, stresses};
  }
};

#endif

std::vector<Frame> read_frames(const std::string& path) {
  std::vector<Frame> frames;
  for (const auto& [name, tensor] : state::read(path)) { // the name of the first is 0.batch
    const size_t point = name.find('.'), number = std::stoul(name.substr(0, point));
    frames.resize(std::max(frames.size(), number + 1));
    frames[number][name.substr(point + 1)] = tensor;
  }
  return frames;
}

at::Tensor loss_of(const Prediction& predicted, const Frame& frame) {
  return at::mse_loss(predicted.energies, frame.at("energies")) + at::mse_loss(predicted.forces, frame.at("forces")) +
      at::mse_loss(predicted.stresses, frame.at("stresses"));
}

std::unique_ptr<torch::optim::Optimizer> optimizer_of(
    const std::string& name, double rate, const std::vector<at::Tensor>& trained) {
  if (name == "sgd") {
    return std::make_unique<torch::optim::SGD>(trained, torch::optim::SGDOptions(rate));
  }
  TORCH_CHECK(name == "adam", name, ": this is neither sgd nor adam");
  return std::make_unique<torch::optim::Adam>(trained, torch::optim::AdamOptions(rate));
}

void train(const std::string& folder, const std::string& optimizer_name, double rate, long steps) {
  Model model;
  state::load(folder + "/start.safetensors", {entries(model.parameters)});
  state::load(folder + "/constants.safetensors", {entries(model.constants)});
  const std::vector<Frame> frames = read_frames(folder + "/data.safetensors");
  const auto optimizer = optimizer_of(optimizer_name, rate, state::trained(entries(model.parameters)));
  for (long step = 0; step < steps; ++step) {
    const Frame& frame = frames[step % frames.size()];
    optimizer->zero_grad();
    const at::Tensor loss = loss_of(model(frame), frame);
    loss.backward();
    optimizer->step();
    if (step % 20 == 0 || step + 1 == steps) {
      std::printf("step %4ld  loss %.9g\n", step, loss.item<double>());
    }
  }
  state::save(folder + "/trained.safetensors", {entries(model.parameters)});
  const Prediction last = model(frames[0]);
  state::write(
      folder + "/predicted.safetensors",
      {{"energies", last.energies}, {"forces", last.forces}, {"stresses", last.stresses}});
}

} // namespace

int main(int argc, char** argv) {
  try {
    std::string optimizer = "adam";
    double rate = 0.01;
    long steps = 200;
    TORCH_CHECK(argc > 1, "train FOLDER [sgd|adam] [--rate=R] [--steps=N]");
    for (int i = 2; i < argc; ++i) {
      const std::string word = argv[i];
      if (word.rfind("--rate=", 0) == 0) {
        rate = std::stod(word.substr(7));
      } else if (word.rfind("--steps=", 0) == 0) {
        steps = std::stol(word.substr(8));
      } else {
        optimizer = word;
      }
    }
    train(argv[1], optimizer, rate, steps);
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "%s\n", error.what_without_backtrace());
    return 1;
  } catch (const std::logic_error& error) {
    std::fprintf(stderr, "this is no number: %s\n", error.what());
    return 1;
  }
}
