// Compiled, not run: what including the frontend costs.
#include <torch/torch.h>

int main() {}
