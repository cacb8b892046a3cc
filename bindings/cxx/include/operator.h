// The base class of operators written in C++, and the function that adds those of this example.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "rust/cxx.h"

namespace demo {

struct Call;
struct Registry;

// An operator: its signature, and its computation. Registered operators are called from any thread, several at a time,
// so an implementation must not have mutable state.
class Operator {
 public:
  virtual ~Operator() = default;

  // The signature in PyTorch's grammar, with a namespace.
  virtual std::string schema() const = 0;

  // Computes one call. An exception becomes the error of the call, with its message.
  virtual void run(Call& call) const = 0;
};

// Functions that Rust calls: the members of an abstract class as functions that cxx can bind.
std::unique_ptr<std::string> schema_of(const Operator& op);
void run(const Operator& op, Call& call);

// Adds the operators of this library.
void register_operators(Registry& registry);

}  // namespace demo
