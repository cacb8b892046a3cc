// Times of operators on a CUDA device: a line of JSON for each, in microseconds per call. `compare.py` runs the same with
// PyTorch.
#include <ATen/cuda/CUDAContext.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

const auto gpu = torch::TensorOptions(torch::kCUDA);

/// The median over 5 rounds of calls that fill about 20 ms, after a warm-up, by events of the device.
double time_of(const std::function<void()>& call) {
  auto round = [&](int calls) {
    at::cuda::CUDAEvent start(cudaEventDefault), end(cudaEventDefault);
    start.record();
    for (int i = 0; i < calls; ++i) call();
    end.record();
    end.synchronize();
    return 1000.0 * start.elapsed_time(end) / calls;
  };
  round(3);
  int calls = std::max(3, static_cast<int>(20000 / std::max(1.0, round(3))));
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) times.push_back(round(calls));
  std::sort(times.begin(), times.end());
  return times[2];
}

/// Microseconds of the host per call, which does not wait for the device.
double launch_of(const std::function<void()>& call) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    torch::cuda::synchronize();
    auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < 500; ++n) call();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / 500);
  }
  torch::cuda::synchronize();
  std::sort(times.begin(), times.end());
  return times[2];
}

void report(const std::string& name, double microseconds) {
  std::printf("{\"name\": \"%s\", \"us\": %.3f}\n", name.c_str(), microseconds);
  std::fflush(stdout);
}

void time_op(const std::string& name, const std::function<void()>& call) {
  try {
    report(name, time_of(call));
  } catch (const std::exception& error) {
    std::string text = error.what();
    std::printf("{\"name\": \"%s\", \"error\": \"%s\"}\n", name.c_str(), text.substr(0, text.find('\n')).c_str());
  }
}

}  // namespace

int main() {
  torch::NoGradGuard guard;
  const int64_t many = 100'000'000;
  {
    torch::Tensor a = torch::ones({many}, gpu), b = torch::ones({many}, gpu), out = torch::empty({many}, gpu);
    time_op("copy 1e8 float32", [&] { out.copy_(a); });
    time_op("add 1e8 float32", [&] { at::add_out(out, a, b); });
    time_op("mul by a number 1e8 float32", [&] { at::mul_out(out, a, b); });
    time_op("exp 1e8 float32", [&] { at::exp_out(out, a); });
    time_op("sigmoid 1e8 float32", [&] { at::sigmoid_out(out, a); });
    time_op("gelu 1e8 float32", [&] { at::gelu_out(out, a); });
    time_op("relu 1e8 float32", [&] { torch::relu(a); });
    torch::Tensor s = a.view({10000, 10000}), t = s.t();
    time_op("add transposed 1e8 float32", [&] { at::add_out(out, s, t); });
    time_op("add row 1e8 float32", [&] { at::add_out(out, s, b.slice(0, 0, 10000)); });
    torch::Tensor h = torch::ones({many}, gpu.dtype(torch::kBFloat16)), ho = torch::empty_like(h);
    time_op("add 1e8 bfloat16", [&] { at::add_out(ho, h, h); });
    time_op("to bfloat16 1e8", [&] { ho.copy_(a); });
    time_op("sum 1e8 float32", [&] { a.sum(); });
    time_op("sum rows 1e4x1e4 float32", [&] { s.sum(1); });
    time_op("softmax 1e4x1e4 float32", [&] { torch::softmax(s, 1); });
    time_op("layer_norm 1e4x1e4 float32", [&] { torch::layer_norm(s, {10000}); });
  }
  for (int64_t n : {256, 1024, 4096}) {
    torch::Tensor a = torch::ones({n, n}, gpu), out = torch::empty({n, n}, gpu);
    time_op("mm " + std::to_string(n) + " float32", [&] { at::mm_out(out, a, a); });
    torch::Tensor h = a.to(torch::kBFloat16), ho = out.to(torch::kBFloat16);
    time_op("mm " + std::to_string(n) + " bfloat16", [&] { at::mm_out(ho, h, h); });
  }
  {
    torch::Tensor x = torch::ones({32, 64, 56, 56}, gpu), w = torch::ones({64, 64, 3, 3}, gpu);
    time_op("conv2d 3x3 64 of 32x56x56", [&] { torch::conv2d(x, w, {}, 1, 1); });
  }
  torch::Tensor x = torch::ones({4}, gpu), y = torch::ones({4}, gpu), out = torch::empty({4}, gpu);
  report("host: add of 4 floats", launch_of([&] { x.add(y); }));
  report("host: add of 4 floats, out", launch_of([&] { at::add_out(out, x, y); }));
  report("host: empty of 4 floats", launch_of([&] { torch::empty({4}, gpu); }));
}
