// The base class of operators written in C++, and the function that adds those of this example.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "rust/cxx.h"

namespace demo {

struct Call;
struct Registry;

// An operator: its signature, and what it computes. Registered operators are called from any thread, several at a
// time, so an implementation keeps no state that it changes.
class Operator {
 public:
  virtual ~Operator() = default;

  // The signature in PyTorch's grammar, with a namespace of its own.
  virtual std::string schema() const = 0;

  // Computes one call. An exception becomes the error of the call, with its text.
  virtual void run(Call& call) const = 0;
};

// What Rust calls: the members of an abstract class by way of functions that cxx can bind.
std::unique_ptr<std::string> schema_of(const Operator& op);
void run(const Operator& op, Call& call);

// Adds the operators of this library.
void register_operators(Registry& registry);

}  // namespace demo
