// Engine: runs the graph from edges. torch::autograd::backward and grad (autograd.h) run it from tensors.
#pragma once

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/input_metadata.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

struct Engine {
  /// The only engine.
  static Engine& get_default_engine() {
    static Engine only;
    return only;
  }

  /// The gradients that reach `outputs` when `roots` receive `inputs`; undefined where none does. With `accumulate_grad` leaves
  /// accumulate theirs: all of them, or those among `outputs` if there are any.
  RLT_LAZY variable_list execute(const edge_list& roots, const variable_list& inputs, bool keep_graph, bool create_graph, bool accumulate_grad,
                                 const edge_list& outputs = {}) {
    if (roots.size() != inputs.size()) {
      rlt::raise<c10::Error>("Engine::execute: got " + std::to_string(roots.size()) + " roots and " + std::to_string(inputs.size()) + " gradients");
    }
    detail::EdgesOf<RltLazy> from(roots, "Engine::execute"), to(outputs, "Engine::execute");
    std::vector<rlt_tensor*> gradients(outputs.size());
    rlt::check(rlt_run_backward(from.nodes.data(), from.input_nrs.data(), rlt::handles(inputs), rlt::length(roots.size()), keep_graph, create_graph, accumulate_grad,
                                to.nodes.data(), to.input_nrs.data(), rlt::length(outputs.size()), gradients.data()));
    variable_list result;
    for (rlt_tensor* gradient : gradients) result.emplace_back(gradient);
    return result;
  }
};

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
