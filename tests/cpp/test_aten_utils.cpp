// The smaller headers of ATen: generators, DLPack, names, powers, vitals, values of rare kinds.
#include <ATen/CPUFunctions.h>
#include <ATen/DLConvertor.h>
#include <ATen/Dimname.h>
#include <ATen/ParallelFuture.h>
#include <ATen/TensorNames.h>
#include <ATen/Utils.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/core/Vitals.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/operator_name.h>
#include <ATen/native/Pow.h>
#include <ATen/native/quantized/AffineQuantizer.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/CallOnce.h>
#include <c10/util/ExclusivelyOwned.h>
#include <c10/util/float8_types.h>
#include <caffe2/core/tensor.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/import_source.h>

#include <random>

namespace {

TEST(ATenUtils, GeneratorsReturnTheirNumbers) {
  at::Generator generator = at::detail::createCPUGenerator(5489);
  auto* numbers = at::check_generator<at::CPUGeneratorImpl>(generator);
  std::mt19937 expected(5489);
  for (int i = 0; i < 700; ++i) ASSERT_EQ(numbers->random(), expected()) << i;
  uint64_t upper = expected();
  EXPECT_EQ(numbers->random64(), upper << 32 | expected());
  // An operator continues the same stream: random_ of uint8 is a number modulo 256.
  at::Tensor x = at::empty({1}, at::kByte).random_(generator);
  EXPECT_EQ(x.item<int64_t>(), expected() % 256);
  EXPECT_EQ(numbers->random(), expected());
  EXPECT_THROW(at::check_generator<at::CPUGeneratorImpl>(std::nullopt), c10::Error);
}

TEST(ATenUtils, PhiloxHasTheNumbersOfItsPaper) {
  // The known answers of Random123 for key and counter 0, and for all bits set.
  at::Philox4_32 zero(0, 0, 0);
  EXPECT_EQ(zero(), 0x6627e8d5u);
  EXPECT_EQ(zero(), 0xe169c58du);
  EXPECT_EQ(zero(), 0xbc57ac4cu);
  EXPECT_EQ(zero(), 0x9b00dbd8u);
  constexpr uint64_t all = ~uint64_t{0};
  at::Philox4_32 ones(all, all, all);
  EXPECT_EQ(ones(), 0x408f276du);
  EXPECT_EQ(ones(), 0x41c83b0eu);
}

TEST(ATenUtils, DLPackSharesMemory) {
  at::Tensor x = at::arange(3, at::kFloat);
  at::Tensor same = at::fromDLPack(at::toDLPack(x));
  EXPECT_EQ(same.data_ptr(), x.data_ptr());
  EXPECT_EQ(at::getDLDataType(x).bits, 32);
  int deleted = 0;
  DLManagedTensor* managed = at::toDLPack(x);
  {
    at::Tensor view = at::fromDLPack(managed, [&](void* context) {
      EXPECT_EQ(context, managed);
      ++deleted;
    });
    EXPECT_TRUE(view.equal(x));
  }
  EXPECT_EQ(deleted, 1);
  managed->deleter(managed);
}

TEST(ATenUtils, NamesUnify) {
  auto name = [](const char* text) { return at::Dimname::fromSymbol(at::Symbol::dimname(text)); };
  EXPECT_EQ(at::unify_from_right({name("*"), name("W")}, {name("C"), name("H"), name("W")}), (std::vector<at::Dimname>{name("C"), name("H"), name("W")}));
  EXPECT_THROW(at::unify_from_right({name("W"), name("H")}, {name("C"), name("H")}), c10::Error);
  EXPECT_THROW(name("1a"), c10::Error);
  std::vector<at::Dimname> names = {name("N"), name("C")};
  EXPECT_EQ(c10::str(at::namedinference::TensorName(names, -1)), "'C' (index 1 of ['N', 'C'])");
}

TEST(ATenUtils, IntegerPowersWrapAround) {
  EXPECT_EQ(at::native::powi(3, 4), 81);
  EXPECT_EQ(at::native::powi(-1, -3), -1);
  EXPECT_EQ(at::native::powi(2, -1), 0);
  EXPECT_EQ(at::native::powi<uint8_t>(2, 9), 0);
}

TEST(ATenUtils, CompositionsMatchOperators) {
  at::Tensor x = at::arange(12, at::kFloat).view({1, 4, 3}) / 4;
  auto [result, mean, rstd] = at::native::math_group_norm(x, {}, {}, 1, 4, 3, 2, 1e-5);
  // The first group has the numbers 0 to 5 / 4: mean 0.625, variance 35 / 12 / 16.
  EXPECT_NEAR(mean[0][0].item<double>(), 0.625, 1e-6);
  EXPECT_NEAR(rstd[0][0].item<double>(), 1 / std::sqrt(35.0 / 192 + 1e-5), 1e-5);
  EXPECT_TRUE(result.allclose(std::get<0>(at::native::native_group_norm(x, {}, {}, 1, 4, 3, 2, 1e-5)), 1e-4, 1e-5));
  EXPECT_TRUE(at::cpu::silu_backward(at::ones_like(x), x).allclose(at::native::math_silu_backward(at::ones_like(x), x)));
}

TEST(ATenUtils, VitalsPrintAtTheEnd) {
  std::ostringstream out;
  std::streambuf* before = std::cout.rdbuf(out.rdbuf());
  {
    at::vitals::TorchVital vital("Run");
    vital.create("steps").write(3, true);
  }
  std::cout.rdbuf(before);
  EXPECT_EQ(out.str(), "[TORCH_VITAL] Run.steps\t\t 3\n");
}

TEST(ATenUtils, RareValues) {
  c10::Stream stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU, 0));
  EXPECT_EQ(c10::IValue(stream).toStream(), stream);
  auto blob = c10::make_intrusive<caffe2::Blob>();
  *blob->GetMutable<int>() = 5;
  EXPECT_EQ(c10::IValue(blob).toBlob()->Get<int>(), 5);
  EXPECT_THROW(blob->Get<float>(), c10::Error);
  c10::IValue text("text");
  c10::WeakIValue weak(text);
  EXPECT_EQ(weak.lock(), text);
  text = c10::IValue();
  EXPECT_TRUE(weak.lock().isNone());
  EXPECT_EQ(c10::IValue(std::vector<int64_t>{3, 4}).toDimVector(), (c10::DimVector{3, 4}));
}

TEST(ATenUtils, WeakReferencesToTensors) {
  torch::Tensor tensor = torch::ones({2});
  EXPECT_EQ(tensor.weak_use_count(), 1u);
  c10::WeakIValue weak{c10::IValue(tensor)};
  c10::WeakIValue copy = weak;
  EXPECT_EQ(tensor.use_count(), 1u);
  EXPECT_EQ(tensor.weak_use_count(), 3u);
  EXPECT_TRUE(weak.lock().toTensor().is_same(tensor));
  tensor.reset();
  EXPECT_TRUE(weak.lock().isNone());
  EXPECT_TRUE(copy.lock().isNone());
  EXPECT_EQ(weak.use_count(), 0u);
  EXPECT_EQ(weak.weak_use_count(), 2u);
  c10::WeakIValue undefined{c10::IValue(torch::Tensor())};
  EXPECT_FALSE(undefined.lock().toTensor().defined());
}

TEST(ATenUtils, ImportsClassesOfModules) {
  auto unit = std::make_shared<torch::jit::CompilationUnit>();
  std::vector<std::string> asked;
  torch::jit::SourceImporter importer(unit, nullptr, [&](const std::string& module) {
    asked.push_back(module);
    return std::make_shared<torch::jit::Source>("class First:\n    def one(self, x: Tensor) -> Tensor:\n        return x\n");
  });
  c10::TypePtr type = importer.loadType("__torch__.First");
  EXPECT_EQ(*type, *unit->get_type("__torch__.First"));
  EXPECT_EQ(asked, std::vector<std::string>{"__torch__"});
  EXPECT_THROW(importer.loadType("__torch__.Second"), c10::Error);
  EXPECT_EQ(unit->get_type("other.First"), nullptr);
  torch::jit::Source source("one\ntwo\n");
  EXPECT_EQ(source.lineno_for_offset(4), 1u);
}

TEST(ATenUtils, QuantizedNumbers) {
  EXPECT_EQ(at::native::quantize_val<c10::quint8>(0.5, 10, 1.25f).val_, 12);  // 2.5 rounds to 2
  EXPECT_EQ(at::native::quantize_val<c10::qint8>(0.5, 0, 1000.0f).val_, 127);
  EXPECT_EQ(at::native::dequantize_val(0.5, 10, c10::quint8(13)), 1.5f);
  EXPECT_EQ((at::native::requantize_val<c10::quint8, c10::qint8>(1.0, 2, 2.0, 1, c10::quint8(6)).val_), 3);
}

TEST(ATenUtils, SmallClasses) {
  EXPECT_EQ(c10::maybe_wrap_dim(-1, 3), 2);
  EXPECT_THROW(c10::maybe_wrap_dim(3, 3), c10::IndexError);
  c10::OperatorName name("add", "Tensor");
  EXPECT_TRUE(name.setNamespaceIfNotSet("aten"));
  EXPECT_FALSE(name.setNamespaceIfNotSet("other"));
  EXPECT_EQ(name.name, "aten::add");
  int keys = 0;
  for (c10::DispatchKey key : c10::DispatchKeySet({c10::DispatchKey::CPU, c10::DispatchKey::Meta})) keys += static_cast<int>(key);
  EXPECT_EQ(keys, 1 + 3);
  EXPECT_TRUE(c10::runtimeDispatchKeySetHas(c10::DispatchKey::Autograd, c10::DispatchKey::AutogradCPU));
  EXPECT_FALSE(c10::runtimeDispatchKeySetHas(c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::AutogradCPU));
  c10::once_flag once;
  int calls = 0;
  EXPECT_THROW(c10::call_once(once, [] { throw std::runtime_error("again"); }), std::runtime_error);
  for (int i = 0; i < 2; ++i) c10::call_once(once, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
  c10::ExclusivelyOwned<caffe2::Tensor> owned(caffe2::Tensor(at::ones({2})));
  EXPECT_EQ(owned->numel(), 2);
  EXPECT_FALSE(c10::ExclusivelyOwned<caffe2::Tensor>());
  auto future = at::intraop_launch_future([] { throw std::runtime_error("late"); });
  future->wait();
  EXPECT_TRUE(future->hasError());
  // 1 + 3/8 is between 1.25 and 1.5; the even mantissa is that of 1.5. The largest numbers are 57344, 448, 57344 and 240.
  EXPECT_EQ(static_cast<float>(c10::Float8_e5m2(1.375f)), 1.5f);
  EXPECT_TRUE(std::isinf(static_cast<float>(c10::Float8_e5m2(65536.0f))));
  EXPECT_EQ(static_cast<float>(c10::Float8_e4m3fn(460.0f)), 448);
  EXPECT_TRUE(c10::Float8_e4m3fn(480.0f).isnan());
  EXPECT_EQ(static_cast<float>(c10::Float8_e5m2fnuz(57344.0f)), 57344);
  EXPECT_EQ(c10::Float8_e4m3fnuz(-0.0f).x, 0);
  EXPECT_EQ(static_cast<float>(c10::Float8_e4m3fnuz(0x1p-10f)), 0x1p-10f);
  using limits = std::numeric_limits<c10::Half>;
  EXPECT_EQ(static_cast<float>(limits::max()), 65504);
  EXPECT_EQ(static_cast<float>(limits::epsilon()), 0x1p-10f);
  EXPECT_EQ(static_cast<float>(std::numeric_limits<c10::BFloat16>::min()), 0x1p-126f);
}

}  // namespace
