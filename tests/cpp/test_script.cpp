// torch::jit: a module that Python saved (tests/oracle/script_models.py), used as libtorch programs do.
#include <gtest/gtest.h>
#include <torch/csrc/jit/mobile/import.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <fstream>
#include <sstream>

namespace {

const char* const kFile = RUSHLIGHT_TEST_DATA "/script/net.pt";

torch::Tensor input() { return torch::tensor({{1.0f, 2.0f, 3.0f}}); }
torch::Tensor expected() { return torch::tensor({{17.0f, 51.0f}}); }

TEST(Script, LoadsAndRunsAModule) {
  torch::jit::script::Module module = torch::jit::load(kFile);
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(input());
  EXPECT_TRUE(torch::equal(module.forward(inputs).toTensor(), expected()));
  EXPECT_TRUE(torch::equal(module(inputs, {{"shift", 10.0}}).toTensor(), expected() + 10));
  EXPECT_TRUE(torch::equal(module.get_method("forward")({input(), 1.0}).toTensor(), expected() + 1));
  EXPECT_EQ(module.attr("calls").toInt(), 3);
  EXPECT_THROW(module.forward({}), c10::Error);
  EXPECT_FALSE(module.find_method("backward"));
  EXPECT_THROW(module.get_method("backward"), c10::Error);
}

TEST(Script, ReadsStreamsAndExtraFiles) {
  std::ifstream stream(kFile, std::ios::binary);
  torch::jit::ExtraFilesMap files{{"labels.txt", ""}, {"missing.txt", "unchanged"}};
  auto module = torch::jit::load(stream, torch::kCPU, files);
  EXPECT_EQ(files["labels.txt"], "cat\ndog\n");
  EXPECT_EQ(files["missing.txt"], "unchanged");
  EXPECT_TRUE(torch::equal(module.forward({input()}).toTensor(), expected()));
  std::istringstream nothing("no archive");
  EXPECT_THROW(torch::jit::load(nothing), c10::Error);
  EXPECT_THROW(torch::jit::load("/no/such/file.pt"), c10::Error);
}

TEST(Script, MethodsTakeAndReturnContainers) {
  auto module = torch::jit::load(kFile);
  c10::Dict<std::string, int64_t> counts;
  counts.insert("x", 2);
  counts.insert("y", 3);
  auto result = module.run_method("describe", counts).toTuple();
  ASSERT_EQ(result->elements().size(), 3u);
  EXPECT_EQ(result->elements()[0].toList().get(1).toStringRef(), "b");
  EXPECT_EQ(result->elements()[1].toInt(), 5);
  EXPECT_EQ(result->elements()[2].toGenericDict().at(c10::IValue("total")).toInt(), 5);
}

// The numbers are those that libtorch programs see.
TEST(Script, ArgumentsAreWhatTheCallHasMadeOfThem) {
  auto unit = torch::jit::compile(R"(
def f(xs: List[int], rows: List[List[int]], d: Dict[str, List[int]], t: Tuple[List[str], int], more: Optional[List[float]]=None):
    xs.append(4)
    xs[0] = 9
    rows[0].append(5)
    rows.append([6])
    d['a'].append(7)
    d['b'] = xs
    t[0].insert(0, 'x')
    if more is not None:
        more.clear()
    return len(xs)
def shrink(xs: List[Tensor], d: Dict[int, str]):
    xs.pop(0)
    d.pop(1)
    return xs[0]
)");
  c10::List<int64_t> xs({1, 2}), row({3});
  c10::List<c10::List<int64_t>> rows({row});
  c10::Dict<std::string, c10::List<int64_t>> d;
  d.insert("a", row.copy());
  c10::List<std::string> words;
  c10::List<double> more({0.5});
  auto& function = unit->get_function("f");
  EXPECT_EQ(function({xs, rows, d, std::make_tuple(words, 1)}, {{"more", more}}).toInt(), 3);
  EXPECT_EQ(xs.vec(), (std::vector<int64_t>{9, 2, 4}));
  EXPECT_EQ(row.vec(), (std::vector<int64_t>{3, 5}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.get(1).vec(), (std::vector<int64_t>{6}));
  ASSERT_EQ(d.size(), 2u);
  EXPECT_EQ(d.at("a").vec(), (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(d.at("b").vec(), xs.vec());
  EXPECT_EQ(words.vec(), (std::vector<std::string>{"x"}));
  EXPECT_TRUE(more.empty());
  torch::Tensor a = torch::ones({1}), b = torch::zeros({1});
  c10::List<torch::Tensor> tensors({a, b});
  c10::Dict<int64_t, std::string> names;
  names.insert(1, "one");
  names.insert(2, "two");
  EXPECT_TRUE(unit->run_method("shrink", tensors, names).toTensor().is_same(b));
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_TRUE(tensors.get(0).is_same(b));
  EXPECT_EQ(names.size(), 1u);
  EXPECT_EQ(names.at(2), "two");
}

TEST(Script, HasParametersAndModules) {
  auto module = torch::jit::load(kFile);
  std::vector<std::string> names;
  for (const auto& parameter : module.named_parameters()) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"fc.weight", "fc.bias"}));
  EXPECT_EQ(module.named_parameters(/*recurse=*/false).size(), 0u);
  EXPECT_EQ(module.named_buffers()[0].name, "scale");
  EXPECT_EQ(module.modules().size(), 2u);
  EXPECT_EQ(module.named_modules()[1].name, "fc");
  EXPECT_TRUE(torch::equal(module.children()[0].attr("bias").toTensor(), torch::tensor({0.5f, -0.5f})));
}

TEST(Script, AModuleCanBeTrained) {
  auto module = torch::jit::load(kFile);
  EXPECT_FALSE(module.is_training());
  auto copy = module.deepcopy();
  copy.train();
  EXPECT_TRUE(copy.is_training());
  EXPECT_FALSE(module.is_training());
  torch::Tensor output = copy.forward({input()}).toTensor();
  EXPECT_TRUE(torch::equal(output, -expected()));
  output.sum().backward();
  EXPECT_TRUE(torch::equal(copy.parameters()[0].grad(), torch::tensor({{-2.0f, -4.0f, -6.0f}, {-2.0f, -4.0f, -6.0f}})));
  EXPECT_FALSE(module.parameters()[0].grad().defined());
  copy.to(torch::kDouble);
  EXPECT_EQ(copy.parameters()[0].scalar_type(), torch::kDouble);
  copy.setattr("calls", 7);
  EXPECT_EQ(copy.attr("calls").toInt(), 7);
  EXPECT_THROW(copy.setattr("calls", "seven"), c10::Error);
  EXPECT_FALSE(copy.hasattr("nothing"));
}

TEST(Script, SavesModules) {
  auto module = torch::jit::load(kFile);
  module.setattr("calls", 3);
  torch::NoGradGuard guard;
  module.parameters()[1].add_(1);
  std::stringstream stream;
  module.save(stream, {{"note", std::string("a\0b", 3)}});
  torch::jit::ExtraFilesMap files{{"note", ""}};
  auto again = torch::jit::load(stream, torch::kCPU, files);
  EXPECT_EQ(files["note"], std::string("a\0b", 3));
  EXPECT_EQ(again.attr("calls").toInt(), 3);
  EXPECT_TRUE(torch::equal(again.forward({input()}).toTensor(), expected() + 2));
  EXPECT_THROW(module.save("/nowhere/module.pt"), c10::Error);
}

TEST(Script, LoadsModulesForMobile) {
  for (const char* name : {"net.ptl", "net_flat.ptl"}) {
    std::string file = std::string(RUSHLIGHT_TEST_DATA "/script/lite/") + name;
    torch::jit::ExtraFilesMap files{{"labels.txt", ""}};
    torch::jit::mobile::Module module = torch::jit::_load_for_mobile(file, torch::kCPU, files);
    EXPECT_EQ(files["labels.txt"], "cat\ndog\n");
    EXPECT_EQ(module.run_method("kinds", 4).toInt(), 5);
    EXPECT_EQ(module.get_method("kinds")({c10::IValue()}).toInt(), -1);
    EXPECT_TRUE(module.find_method("loops").has_value());
    EXPECT_FALSE(module.find_method("missing").has_value());
    EXPECT_EQ(module.parameters().size(), 5u);
    EXPECT_EQ(module.named_parameters().at("fc.bias")[0].item<float>(), 0.5f);
    EXPECT_FALSE(module.is_training());
    EXPECT_EQ(module.attr("nothing", 7).toInt(), 7);
    std::ifstream stream(file, std::ios::binary);
    auto again = torch::jit::_load_for_mobile(stream);
    auto result = again.forward({torch::tensor({{1.0f, 2.0f}, {-1.0f, 0.5f}})}).toTuple()->elements();
    EXPECT_TRUE(torch::equal(result[0].toTensor(), torch::tensor({{12.0f, -16.0f}, {0.0f, 0.0f}})));
    EXPECT_EQ(result[3].toInt(), 1);
  }
  EXPECT_THROW(torch::jit::_load_for_mobile(kFile), c10::Error);
}

TEST(Script, SavesModulesForMobile) {
  auto module = torch::jit::load(kFile);
  std::stringstream stream;
  module._save_for_mobile(stream, {{"note", "text"}});
  torch::jit::ExtraFilesMap files{{"note", ""}};
  auto lite = torch::jit::_load_for_mobile(stream, torch::kCPU, files);
  EXPECT_EQ(files["note"], "text");
  EXPECT_TRUE(torch::equal(lite.forward({input()}).toTensor(), expected()));
  std::stringstream again;
  EXPECT_THROW(module._save_for_mobile(again, {}, false, true), c10::NotImplementedError);
}

TEST(Script, RunsTheHooksOfAFile) {
  auto module = torch::jit::load(RUSHLIGHT_TEST_DATA "/script/hooks.pt");
  EXPECT_EQ(module({torch::ones({1})}).toTensor().item<float>(), 104);
  EXPECT_EQ(module.forward({torch::ones({1})}).toTensor().item<float>(), 2);
}

TEST(Script, ReadsByAdapters) {
  auto adapter = std::make_shared<caffe2::serialize::FileAdapter>(kFile);
  torch::jit::ExtraFilesMap files{{"labels.txt", ""}};
  auto module = torch::jit::load(adapter, torch::kCPU, files);
  EXPECT_EQ(files["labels.txt"], "cat\ndog\n");
  EXPECT_TRUE(torch::equal(module.forward({input()}).toTensor(), expected()));
  EXPECT_THROW(caffe2::serialize::FileAdapter("/no/such/file"), c10::Error);
}

TEST(Script, CompilesFunctions) {
  auto unit = torch::jit::compile(R"(
def relu_script(a, b):
    return torch.relu(a + b)

def test_while(a, i: int):
    while i < 10:
        a += a
        i += 1
    return a
)");
  auto a = torch::tensor({-3.0f, 1.0f}), b = torch::tensor({1.0f, 1.0f});
  EXPECT_TRUE(torch::equal(unit->run_method("relu_script", a, b).toTensor(), torch::tensor({0.0f, 2.0f})));
  EXPECT_EQ(unit->run_method("test_while", torch::ones({1}), 6).toTensor().item<float>(), 16.0f);
  EXPECT_THROW(torch::jit::compile("def f(a):\n    return c\n"), c10::Error);
}

TEST(Script, FilesOfTensorsAreModulesWithoutMethods) {
  torch::serialize::OutputArchive archive;
  archive.write("weight|0", torch::ones({2}));
  archive.write("inner.scale", torch::full({1}, 3, torch::kLong));
  std::stringstream stream;
  archive.save_to(stream);
  torch::jit::Module module = torch::jit::load(stream);
  std::map<std::string, torch::Tensor> found;
  for (const auto& parameter : module.named_parameters()) found[parameter.name] = parameter.value;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found["weight|0"].equal(torch::ones({2})));
  EXPECT_TRUE(found["inner.scale"].equal(torch::full({1}, 3, torch::kLong)));
  EXPECT_TRUE(module.attr("inner").isModule());
  EXPECT_THROW(module.forward({}), c10::Error);
  // Another value than a dict of tensors.
  std::vector<char> bytes = torch::jit::pickle_save(torch::ones({1}));
  std::stringstream other(std::string(bytes.begin(), bytes.end()));
  EXPECT_THROW(torch::jit::load(other), c10::Error);
}

}  // namespace
