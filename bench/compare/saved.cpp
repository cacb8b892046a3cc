// Saved models: the folders below RUSHLIGHT_COMPARE_SAVED, which `saved_models.py` prepares as `convolutional/NAME` and
// `other/NAME`, have a `model.pt` and its arguments in `arguments.pt`. "cold" is load, first and second run in a process
// that has not seen the model, with warm file caches; "steady" is a later run, "compiled" one of
// `optimize_for_inference`.
#include "harness.h"

#include <torch/script.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace compare {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<torch::jit::IValue> arguments(const std::filesystem::path& folder) {
  torch::jit::Module holder = torch::jit::load((folder / "arguments.pt").string());
  std::vector<torch::jit::IValue> values;
  for (int64_t i = 0; i < holder.attr("count").toInt(); ++i) values.push_back(holder.attr("argument" + std::to_string(i)));
  return values;
}

// The first tensor of a result.
bool first_tensor(const torch::jit::IValue& value, torch::Tensor* found) {
  if (value.isTensor()) {
    *found = value.toTensor();
    return true;
  }
  if (value.isTuple()) {
    for (const auto& element : value.toTuple()->elements()) {
      if (first_tensor(element, found)) return true;
    }
  }
  return false;
}

void run_model(const std::filesystem::path& folder) {
  const std::string name = folder.parent_path().filename().string() + '/' + folder.filename().string();
  const Case cold{"saved", name, "cold"}, steady{"saved", name, "steady"}, compiled{"saved", name, "compiled"};
  const bool is_cold = wanted(cold), is_steady = wanted(steady), is_compiled = wanted(compiled);
  if (!is_cold && !is_steady && !is_compiled) return;
  try {
    torch::NoGradGuard guard;
    const auto values = arguments(folder);
    const auto start = Clock::now();
    torch::jit::Module model = torch::jit::load((folder / "model.pt").string());
    auto result = model.forward(values);
    model.forward(values);
    const double time = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    double sum = 0;
    torch::Tensor tensor;
    const bool summed = settings().check && first_tensor(result, &tensor) && checksum(tensor, &sum);
    if (is_cold) report(cold, {time, time}, summed ? &sum : nullptr);
    const auto later = [&](const Case& c) {
      Times times = time_calls([&](int64_t count) {
        for (int64_t i = 0; i < count; ++i) model.forward(values);
      });
      report(c, times, nullptr);
    };
    if (is_steady) later(steady);
    if (!is_compiled) return;
    model.eval();
    model = torch::jit::optimize_for_inference(model);
    // libtorch optimizes during the first runs.
    for (int run = 0; run < 3; ++run) model.forward(values);
    later(compiled);
  } catch (const std::exception& error) {
    // A model may need operators that a library has not loaded, such as those of torchvision.
    report_missing(is_cold ? cold : is_steady ? steady : compiled, error.what());
  }
}

}  // namespace

void saved() {
  const char* root = std::getenv("RUSHLIGHT_COMPARE_SAVED");
  if (root == nullptr) return;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (std::filesystem::exists(entry.path() / "arguments.pt")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const auto& folder : folders) run_model(folder);
}

}  // namespace compare
