// demo::scaled_add in C++: a loop over the memory of the tensors, without a copy.

#include <memory>
#include <string>
#include <utility>

#include "operator.h"
#include "rushlight-cxx-example/src/bridge.rs.h"

namespace demo {

namespace {

class ScaledAdd final : public Operator {
 public:
  std::string schema() const override {
    return "demo::scaled_add(Tensor self, Tensor other, float scale=1) -> Tensor";
  }

  void run(Call& call) const override {
    const rust::Slice<const std::int64_t> sizes = call.sizes(0);
    if (!call.same_sizes(0, 1)) {
      throw std::invalid_argument("self and other must have the same sizes");
    }
    const float* self = call.floats(0);
    const float* other = call.floats(1);
    const float scale = static_cast<float>(call.number(2));
    float* result = call.allocate(sizes);
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) {
      count *= size;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      result[i] = self[i] + scale * other[i];
    }
  }
};

}  // namespace

std::unique_ptr<std::string> schema_of(const Operator& op) { return std::make_unique<std::string>(op.schema()); }

void run(const Operator& op, Call& call) { op.run(call); }

void register_operators(Registry& registry) { registry.add(std::make_unique<ScaledAdd>()); }

}  // namespace demo
