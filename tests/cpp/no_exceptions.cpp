// -fno-exceptions -fno-rtti: everything works, and a failure reaches the handler.
#include <torch/torch.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

namespace {

std::jmp_buf escape;
int32_t failed_with = 0;
char failed_text[200];

void note_failure(int32_t code, const char* message) {
  failed_with = code;
  std::strncpy(failed_text, message, sizeof failed_text - 1);
  std::longjmp(escape, 1);
}

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override { layers = register_module("layers", torch::nn::Sequential(torch::nn::Linear(2, 3), torch::nn::ReLU(), torch::nn::Linear(3, 1))); }
  torch::Tensor forward(torch::Tensor x) { return layers->forward(std::move(x)); }
  torch::nn::Sequential layers{nullptr};
};
TORCH_MODULE(Net);

struct Square : torch::autograd::Function<Square> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {grads[0] * 2 * ctx->get_saved_variables()[0]};
  }
};

}  // namespace

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  net(torch::ones({1, 2})).sum().backward();
  optimizer.step();
  if (net->clone()->parameters().size() != 4) return 1;
  if (net->layers->ptr(0)->as<torch::nn::LinearImpl>() == nullptr) return 2;
  if (net->layers->ptr(1)->as<torch::nn::LinearImpl>() != nullptr) return 3;

  torch::Tensor x = torch::full({1}, 3.0, torch::requires_grad());
  Square::apply(x).backward();
  if (x.grad().item<double>() != 6) return 4;

  rlt::set_failure_handler(note_failure);
  torch::Tensor two = torch::ones({2}), three = torch::ones({3});
  if (setjmp(escape) == 0) {
    torch::Tensor never = two + three;
    return 5;
  }
  if (failed_with != RLT_ERROR_RUNTIME || std::strstr(failed_text, "must match the size") == nullptr) {
    std::printf("%d %s\n", failed_with, failed_text);
    return 6;
  }
  std::puts("ok");
  return 0;
}
