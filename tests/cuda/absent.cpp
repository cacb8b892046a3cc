// Without a driver: no CUDA device, an error that says so, and a CPU that works. On a machine with a GPU it checks nothing.
#include <torch/torch.h>

#include <cstdio>
#include <string>

int main() {
  if (torch::cuda::is_available()) return 0;
  std::string text;
  try {
    torch::empty({2}, torch::kCUDA);
  } catch (const c10::Error& error) {
    text = error.what_without_backtrace();
  }
  const bool named = text.find("no CUDA device: no NVIDIA driver with a GPU was found on this machine") == 0;
  const bool works = torch::ones({2}).sum().item<float>() == 2.0f;
  if (!named || !works) std::printf("%s\n", text.c_str());
  return named && works ? 0 : 1;
}
