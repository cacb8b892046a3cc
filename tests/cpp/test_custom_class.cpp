// torch::class_: C++ classes in programs, files and operators; modules that C++ code builds.
#include <gtest/gtest.h>
#include <torch/script.h>

#include <sstream>

namespace {

struct Counter : torch::CustomClassHolder {
  explicit Counter(int64_t start) : count(start) {}
  int64_t add(int64_t n) { return count += n; }
  std::tuple<int64_t, std::string> both() const { return {count, "c"}; }
  static int64_t twice(int64_t n) { return 2 * n; }
  void fail() { throw std::runtime_error("no more"); }
  int64_t count;
};

TORCH_LIBRARY(class_test, m) {
  m.class_<Counter>("Counter")
      .def(torch::init<int64_t>(), "", {torch::arg("start") = 5})
      .def("add", &Counter::add, "adds", {torch::arg("n") = 1})
      .def("both", &Counter::both)
      .def("fail", &Counter::fail)
      .def("merge", [](const c10::intrusive_ptr<Counter>& self, c10::intrusive_ptr<Counter> other) { self->count += other->count; })
      .def_static("twice", &Counter::twice)
      .def_readwrite("count", &Counter::count)
      .def_pickle([](const c10::intrusive_ptr<Counter>& self) -> int64_t { return self->count; },
                  [](int64_t state) { return c10::make_intrusive<Counter>(state); });
  m.def("scaled", [](const c10::intrusive_ptr<Counter>& counter, const at::Tensor& x) { return x * counter->count; });
}

TEST(CustomClass, ProgramsCreateAndCallObjects) {
  auto unit = torch::jit::compile(R"(
def f(x: int) -> Tuple[int, str, int]:
    c = torch.classes.class_test.Counter(x)
    c.add(2)
    c.add()
    d = torch.classes.class_test.Counter()
    c.merge(d)
    c.count = c.count + 100
    both = c.both()
    return both[0], both[1], torch.classes.class_test.Counter.twice(4)

def g(c: __torch__.torch.classes.class_test.Counter, x: Tensor):
    c.add(7)
    return c, torch.ops.class_test.scaled(c, x)

def h():
    c = torch.classes.class_test.Counter(1)
    c.fail()
)");
  auto result = unit->run_method("f", 10).toTuple();
  EXPECT_EQ(result->elements()[0].toInt(), 118);
  EXPECT_EQ(result->elements()[1].toStringRef(), "c");
  EXPECT_EQ(result->elements()[2].toInt(), 8);
  auto object = torch::make_custom_class<Counter>(1);
  auto pair = unit->run_method("g", object, torch::ones({1})).toTuple();
  EXPECT_EQ(pair->elements()[0].toCustomClass<Counter>().get(), object.toCustomClass<Counter>().get());
  EXPECT_TRUE(pair->elements()[0].is(object));
  EXPECT_EQ(pair->elements()[1].toTensor().item<float>(), 8);
  EXPECT_THROW(unit->run_method("h"), std::runtime_error);
  EXPECT_THROW(torch::jit::compile("def f():\n    return torch.classes.class_test.Counter('a')\n"), c10::Error);
  EXPECT_THROW(torch::jit::compile("def f():\n    return torch.classes.class_test.Missing()\n"), c10::Error);
}

TEST(CustomClass, HasAType) {
  auto type = torch::getCustomClass("__torch__.torch.classes.class_test.Counter");
  ASSERT_TRUE(type);
  EXPECT_EQ(type->getMethod("add").doc_string(), "adds");
  EXPECT_EQ(type->getMethod("add").getSchema().arguments()[1].default_value()->toInt(), 1);
  auto object = torch::make_custom_class<Counter>(1);
  EXPECT_EQ(object.type()->str(), "__torch__.torch.classes.class_test.Counter");
  EXPECT_EQ(type->getMethod("add")({object, 4}).toInt(), 5);
  EXPECT_EQ(type->getMethod("add")({object}).toInt(), 6);
  EXPECT_FALSE(torch::getCustomClass("__torch__.torch.classes.class_test.Missing"));
  struct Unregistered : torch::CustomClassHolder {};
  EXPECT_THROW(torch::make_custom_class<Unregistered>(), c10::Error);
  EXPECT_THROW(object.toCustomClass<Unregistered>(), c10::Error);
  EXPECT_THROW(torch::class_<Counter>("class_test", "Counter"), c10::Error);
}

TEST(CustomClass, IsSavedWithAModule) {
  auto object = torch::make_custom_class<Counter>(1);
  torch::jit::Module module("Net");
  module.register_attribute("counter", object.type(), object);
  module.register_parameter("weight", torch::ones({2}), false);
  module.define("def forward(self, x):\n    return x * self.weight + self.counter.add(2)\n");
  EXPECT_EQ(module.forward({torch::ones({2})}).toTensor()[0].item<float>(), 4);
  std::stringstream stream;
  module.save(stream);
  auto loaded = torch::jit::load(stream);
  EXPECT_EQ(loaded.forward({torch::ones({2})}).toTensor()[1].item<float>(), 6);
  EXPECT_EQ(object.toCustomClass<Counter>()->count, 3);
  EXPECT_EQ(loaded.attr("counter").toCustomClass<Counter>()->count, 5);
}

TEST(Modules, AreBuilt) {
  auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module parent("Parent", unit), child("Child", unit);
  child.register_parameter("w", torch::full({1}, 2.0), false);
  child.register_buffer("b", torch::full({1}, 3.0));
  child.define("def forward(self, x: Tensor, k: int = 1) -> Tensor:\n    return x * self.w + self.b * k\n");
  parent.register_module("child", child);
  parent.register_attribute("names", c10::ListType::ofStrings(), c10::List<std::string>({"a", "b"}));
  parent.define("def forward(self, x):\n    return self.child(x, 10), len(self.names)\n");
  auto result = parent.forward({torch::ones({1})}).toTuple();
  EXPECT_EQ(result->elements()[0].toTensor().item<float>(), 32);
  EXPECT_EQ(result->elements()[1].toInt(), 2);
  EXPECT_EQ(parent.named_parameters()[0].name, "child.w");
  EXPECT_EQ(parent.type()->getAttribute("names")->str(), "str[]");
  EXPECT_TRUE(parent.type()->is_module());
  EXPECT_EQ(parent.attr("child").toModule(), child);
  EXPECT_TRUE(parent.attr("child").isModule());
  const auto& schema = child.get_method("forward").schema();
  EXPECT_EQ(c10::toString(schema), "forward(__torch__.Child self, Tensor x, int k=1) -> Tensor");
  EXPECT_EQ(schema.arguments()[2].name(), "k");
  EXPECT_EQ(schema.arguments()[2].default_value()->toInt(), 1);
  EXPECT_EQ(child.get_method("forward").num_inputs(), 3u);
  EXPECT_NE(child.get_method("forward").graph()->toString().find("prim::GetAttr[name=\"w\"]"), std::string::npos);
  EXPECT_NE(parent.dump_to_str().find("    module __torch__.Child {\n      parameters {\n        w = "), std::string::npos);
  EXPECT_THROW(parent.register_module("other", torch::jit::Module("Other")), c10::NotImplementedError);
  EXPECT_THROW(parent.define("def broken(self):\n    return self.nothing\n"), c10::Error);
  EXPECT_THROW(parent.attr("nothing"), torch::jit::ObjectAttributeError);
}

TEST(Modules, AreCopied) {
  torch::jit::Module module("M");
  module.register_parameter("w", torch::ones({2}), false);
  auto shallow = module.copy(), deep = module.deepcopy();
  EXPECT_TRUE(shallow.attr("w").is(module.attr("w")));
  EXPECT_FALSE(deep.attr("w").is(module.attr("w")));
  EXPECT_EQ(shallow.type(), module.type());
  EXPECT_NE(shallow, module);
  EXPECT_TRUE(c10::IValue(shallow._ivalue()).overlaps(module._ivalue()));
  EXPECT_FALSE(c10::IValue(deep._ivalue()).overlaps(module._ivalue()));
}

TEST(Modules, AreFrozen) {
  torch::jit::Module module("M");
  module.register_parameter("w", torch::full({}, 2.0), false);
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define("def forward(self, x):\n    return self.w * x\n");
  module.eval();
  for (const auto& frozen : {torch::jit::freeze(module), torch::jit::optimize_for_inference(module)}) {
    EXPECT_EQ(frozen.get_method("forward").graph()->toString().find("GetAttr"), std::string::npos);
    EXPECT_EQ(frozen.forward({torch::ones({})}).toTensor().item<float>(), 2);
  }
  module.train();
  EXPECT_THROW(torch::jit::freeze(module), c10::Error);
}

TEST(Modules, KeepWeightsInLessPrecision) {
  torch::manual_seed(8);
  auto weight = torch::randn({48, 64});
  torch::NoGradGuard guard;
  for (auto dtype : {torch::kFloat, torch::kBFloat16, torch::kChar}) {
    auto rounded = weight;
    if (dtype == torch::kBFloat16) rounded = weight.to(torch::kBFloat16).to(torch::kFloat);
    if (dtype == torch::kChar) {
      auto scale = std::get<0>(weight.abs().max(1, /*keepdim=*/true)) / 127;
      rounded = torch::round(weight / scale) * scale;
    }
    torch::jit::Module module("M");
    module.register_parameter("w", weight, false);
    module.define("def forward(self, x):\n    return torch.nn.functional.linear(x, self.w)\n");
    auto compiled = torch::jit::optimize_for_inference(module, {}, dtype);
    for (int64_t rows : {1, 5, 70}) {
      auto x = torch::randn({rows, 64});
      EXPECT_TRUE(torch::allclose(compiled.forward({x}).toTensor(), torch::mm(x, rounded.t()), 1e-5, 1e-4)) << dtype << ' ' << rows;
    }
  }
  EXPECT_THROW(torch::jit::optimize_for_inference(torch::jit::Module("N"), {}, torch::kHalf), c10::Error);
}

TEST(Modules, AreCompiled) {
  torch::manual_seed(7);
  torch::jit::Module module("M");
  module.register_parameter("w", torch::randn({6, 3, 3, 3}), false);
  module.register_parameter("b", torch::randn({6}), false);
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(
      "def forward(self, x):\n"
      "    y = torch.relu(torch.conv2d(x, self.w, self.b, 1, 1))\n"
      "    return torch.softmax(y.mean([2, 3]) * 2, 1), y[:, 0]\n");
  torch::NoGradGuard guard;
  auto compiled = torch::jit::optimize_for_inference(module);
  for (int64_t size : {5, 9, 5}) {
    auto x = torch::randn({2, 3, size, size});
    auto expected = module.forward({x}).toTuple(), found = compiled.forward({x}).toTuple();
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(torch::allclose(found->elements()[i].toTensor(), expected->elements()[i].toTensor(), 1e-5, 1e-6));
  }
  std::string plan = torch::jit::detail::text([&](rlt_value* out) { return rlt_module_method_plan(compiled.handle(), "forward", out); });
  EXPECT_NE(plan.find("convolution + relu("), std::string::npos) << plan;
  // Gradients are recorded as before.
  at::AutoGradMode recording(true);
  auto x = torch::randn({1, 3, 5, 5}, torch::requires_grad());
  compiled.forward({x}).toTuple()->elements()[1].toTensor().sum().backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
}

TEST(Functions, AreFound) {
  torch::jit::CompilationUnit unit;
  unit.define("def double(x: int) -> int:\n    return x * 2\n\ndef both(x: int):\n    return double(x), x\n");
  EXPECT_EQ(unit.run_method("double", 4).toInt(), 8);
  EXPECT_EQ(unit.get_functions().size(), 2u);
  EXPECT_EQ(unit.find_function("missing"), nullptr);
  EXPECT_THROW(unit.get_function("missing"), c10::Error);
  auto& both = unit.get_function("both");
  EXPECT_EQ(both.getSchema().returns()[0].type()->str(), "(int, int)");
  EXPECT_NE(both.graph()->toString().find("prim::CallFunction"), std::string::npos);
  EXPECT_EQ(both.optimized_graph()->toString().find("prim::CallFunction"), std::string::npos);
}

}  // namespace
