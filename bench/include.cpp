// Compiled, not run: measures the cost of including the frontend.
#include <torch/torch.h>

int main() {}
