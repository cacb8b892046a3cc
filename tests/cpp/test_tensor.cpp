// Tensors: creation, metadata, element access, operators, guards and generators.
#include <gtest/gtest.h>
#include <ATen/Operators.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <torch/torch.h>

#include <vector>

namespace {

std::vector<float> values(const torch::Tensor& tensor) {
  torch::Tensor flat = tensor.to(torch::kFloat).contiguous();
  const float* data = flat.const_data_ptr<float>();
  return std::vector<float>(data, data + flat.numel());
}
using Floats = std::vector<float>;

TEST(Tensor, DtypesOfNumbers) {
  EXPECT_EQ(torch::tensor(1).dtype(), torch::kLong);
  EXPECT_EQ(torch::tensor(1.5).dtype(), torch::kFloat);
  EXPECT_EQ(torch::tensor(true).dtype(), torch::kBool);
  EXPECT_EQ(torch::tensor({1, 2}).dtype(), torch::kLong);
  EXPECT_EQ(torch::tensor({uint8_t{1}}).dtype(), torch::kByte);
  EXPECT_EQ(torch::tensor({int16_t{1}}).dtype(), torch::kShort);
  EXPECT_EQ(torch::tensor({1.0, 2.0}).dtype(), torch::kFloat);
  EXPECT_EQ(torch::tensor({c10::complex<double>(1, 2)}).dtype(), torch::kComplexDouble);
  EXPECT_EQ(torch::tensor(std::vector<int>{1}).dtype(), torch::kLong);
  EXPECT_EQ(torch::tensor(std::vector<bool>{true, false}).dtype(), torch::kBool);
  EXPECT_EQ(torch::tensor({1, 2}, torch::kInt).dtype(), torch::kInt);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  EXPECT_EQ(torch::tensor(1.5f).dtype(), torch::kDouble);
  // libtorch accepts any dtype.
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kInt));
  EXPECT_EQ(torch::ones(2).dtype(), torch::kInt);
  EXPECT_EQ(torch::TensorOptions().dtype(), torch::kInt);
  EXPECT_EQ(torch::arange(3).dtype(), torch::kLong);
  EXPECT_EQ(torch::full({2}, 3).dtype(), torch::kLong);
  EXPECT_EQ(torch::full({2}, 3.5).dtype(), torch::kInt);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat));
}

TEST(Tensor, NestedLists) {
  torch::Tensor tensor = torch::tensor({{{1, 2}, {3, 4}, {5, 6}}});
  EXPECT_EQ(tensor.sizes(), (std::vector<int64_t>{1, 3, 2}));
  EXPECT_EQ(values(tensor), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(torch::tensor({}).sizes(), std::vector<int64_t>{0});
  EXPECT_EQ(values(torch::tensor(std::vector<bool>{true, false, true})), (Floats{1, 0, 1}));
  EXPECT_EQ(torch::tensor({1.5, -2.0}, torch::kHalf)[0].item<at::Half>(), 1.5f);
  EXPECT_THROW(torch::tensor({{1, 2}, {3}}), c10::Error);
}

TEST(Tensor, Metadata) {
  torch::Tensor tensor = torch::zeros({2, 3, 4}, torch::kDouble);
  EXPECT_EQ(tensor.dim(), 3);
  EXPECT_EQ(tensor.numel(), 24);
  EXPECT_EQ(tensor.size(-1), 4);
  EXPECT_EQ(tensor.stride(0), 12);
  EXPECT_EQ(tensor.element_size(), 8);
  EXPECT_EQ(tensor.nbytes(), 192u);
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_FALSE(tensor.transpose(0, 2).is_contiguous());
  EXPECT_TRUE(tensor.device().is_cpu());
  EXPECT_EQ(tensor.layout(), torch::kStrided);
  EXPECT_TRUE(tensor.is_floating_point());
  EXPECT_FALSE(torch::Tensor().defined());
  torch::Tensor same = tensor;
  EXPECT_TRUE(same.is_same(tensor));
  EXPECT_EQ(tensor.use_count(), 2u);
  same.reset();
  EXPECT_EQ(tensor.use_count(), 1u);
  EXPECT_EQ(torch::ones({2}, torch::kMeta).device(), torch::Device(torch::kMeta));
}

TEST(Tensor, FromBlob) {
  float data[] = {1, 2, 3, 4, 5, 6};
  int deleted = 0;
  {
    torch::Tensor tensor = torch::from_blob(data, {2, 3}, [&](void*) { ++deleted; });
    EXPECT_EQ(tensor.data_ptr<float>(), data);
    tensor += 1;
    torch::Tensor row = tensor[1];
    tensor.reset();
    EXPECT_EQ(deleted, 0);
    EXPECT_EQ(row[0].item<float>(), 5);
  }
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(data[0], 2);
  EXPECT_EQ(values(torch::from_blob(data, {3, 2}, {1, 3})), (Floats{2, 5, 3, 6, 4, 7}));
  int64_t longs[] = {7, 8};
  EXPECT_EQ(torch::from_blob(longs, {2}, torch::kLong).sum().item<int64_t>(), 15);
}

TEST(Tensor, Accessor) {
  torch::Tensor tensor = torch::arange(6, torch::kFloat).reshape({2, 3});
  auto access = tensor.accessor<float, 2>();
  EXPECT_EQ(access[1][2], 5);
  access[0][0] = 9;
  EXPECT_EQ(tensor[0][0].item<float>(), 9);
  torch::Tensor turned = tensor.t();
  EXPECT_EQ((turned.accessor<float, 2>()[2][1]), 5);
  EXPECT_THROW((tensor.accessor<double, 2>()), c10::Error);
  EXPECT_THROW((tensor.accessor<float, 3>()), c10::Error);
}

TEST(Tensor, PackedAccessor) {
  torch::Tensor tensor = torch::arange(6, torch::kFloat).reshape({2, 3});
  auto packed = tensor.packed_accessor32<float, 2, torch::RestrictPtrTraits>();
  static_assert(std::is_same_v<decltype(packed), torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits>>);
  packed[1][2] = 9;
  EXPECT_EQ(tensor[1][2].item<float>(), 9);
  auto turned = tensor.packed_accessor64<float, 2>().transpose(0, 1);
  EXPECT_EQ(turned.size(0), 3);
  EXPECT_EQ(turned.stride(0), 1);
  EXPECT_EQ(turned[2][1], 9);
  try {
    turned.transpose(0, 2);
    FAIL();
  } catch (const c10::IndexError& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "Index 2 is not within bounds of a tensor of dimension 2");
  }
  torch::Tensor row = tensor[0];
  auto one = row.generic_packed_accessor<float, 1, torch::DefaultPtrTraits, int16_t>().transpose(0, 0);
  EXPECT_EQ(one[2], 2);
  EXPECT_THROW(one.transpose(1, 0), c10::IndexError);
  torch::Tensor large = torch::zeros({1}).expand({int64_t{1} << 31});
  EXPECT_THROW((large.packed_accessor32<float, 1>()), c10::Error);
}

// The values are those of libtorch.
TEST(Tensor, MetadataOfAnUndefinedTensor) {
  const torch::Tensor none;
  EXPECT_EQ(none.dim(), 1);
  EXPECT_EQ(none.sizes(), torch::IntArrayRef({0}));
  EXPECT_EQ(none.size(0), 0);
  EXPECT_EQ(none.numel(), 0);
  EXPECT_EQ(none.storage_offset(), 0);
  EXPECT_EQ(none.scalar_type(), torch::ScalarType::Undefined);
  EXPECT_STREQ(c10::toString(none.scalar_type()), "UNKNOWN_SCALAR");
  EXPECT_EQ(none.layout(), torch::kStrided);
  EXPECT_EQ(none._version(), 0);
  EXPECT_EQ(none.toString(), "UndefinedType");
  EXPECT_TRUE(none.is_contiguous());
  EXPECT_FALSE(none.is_contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_FALSE(none.requires_grad() || none.is_cpu() || none.is_cuda() || none.is_meta() || none.is_sparse());
  EXPECT_FALSE(none.is_floating_point() || none.is_complex() || none.is_quantized() || none.has_storage());
  EXPECT_EQ(none.unsafeGetTensorImpl(), c10::UndefinedTensorImpl::singleton());
  for (auto& [access, message] : std::vector<std::pair<std::function<void()>, std::string>>{
           {[&] { none.strides(); }, "strides() called on an undefined Tensor"}, {[&] { none.device(); }, "tensor does not have a device"}}) {
    try {
      access();
      ADD_FAILURE() << message;
    } catch (const c10::Error& error) {
      EXPECT_EQ(error.what_without_backtrace(), message);
    }
  }
  EXPECT_THROW(none.name(), c10::Error);
  EXPECT_EQ(torch::ones(1).name(), "");
}

TEST(Tensor, IsBorrowedWhereItIsContiguous) {
  torch::Tensor tensor = torch::arange(6).reshape({2, 3});
  c10::MaybeOwned<torch::Tensor> same = tensor.expect_contiguous();
  EXPECT_TRUE(same.unsafeIsBorrowed() && same->is_same(tensor));
  torch::Tensor turned = tensor.t();
  c10::MaybeOwned<torch::Tensor> copy = turned.expect_contiguous();
  EXPECT_TRUE(!copy.unsafeIsBorrowed() && copy->is_contiguous() && copy->equal(turned));
  EXPECT_FALSE(tensor.is_xpu() || tensor.is_xla() || tensor.is_privateuseone());
  EXPECT_EQ(tensor.sym_nbytes(), 48);
}

TEST(Tensor, ConvertedToABackend) {
  torch::Tensor tensor = torch::ones({2, 2});
  EXPECT_TRUE(tensor.toBackend(at::Backend::CPU).is_same(tensor));
  EXPECT_TRUE(tensor.toBackend(at::Backend::Meta).is_meta());
  EXPECT_THROW(tensor.toBackend(at::Backend::Undefined), c10::Error);
}

TEST(Tensor, OperatorsOfCpp) {
  torch::Tensor a = torch::tensor({1.0f, 2.0f, 4.0f}), b = torch::tensor({3.0f, 2.0f, 1.0f});
  EXPECT_EQ(values(a + b), (Floats{4, 4, 5}));
  EXPECT_EQ(values(a - 1), (Floats{0, 1, 3}));
  EXPECT_EQ(values(1 - a), (Floats{0, -1, -3}));
  EXPECT_EQ(values(8 / a), (Floats{8, 4, 2}));
  EXPECT_EQ(values(2 * a), (Floats{2, 4, 8}));
  EXPECT_EQ(values(-a), (Floats{-1, -2, -4}));
  EXPECT_EQ(values(a < b), (Floats{1, 0, 0}));
  EXPECT_EQ(values(2 <= a), (Floats{0, 1, 1}));
  EXPECT_EQ(values(a == 2), (Floats{0, 1, 0}));
  EXPECT_EQ(values(a != b), (Floats{1, 0, 1}));
  a += b;
  a *= 2;
  EXPECT_EQ(values(a), (Floats{8, 8, 10}));
  a /= 2;
  a -= b;
  EXPECT_EQ(values(a), (Floats{1, 2, 4}));
}

TEST(Tensor, ItemAndScalar) {
  EXPECT_EQ(torch::tensor(3).item<int>(), 3);
  EXPECT_EQ(torch::tensor(2.5).item<float>(), 2.5f);
  EXPECT_TRUE(torch::tensor(true).item<bool>());
  EXPECT_EQ(torch::tensor(3).item().type(), torch::kLong);
  EXPECT_THROW(torch::tensor({1, 2}).item<int>(), c10::Error);
  torch::Scalar number(300);
  EXPECT_EQ(number.to<double>(), 300);
  EXPECT_THROW(number.toByte(), std::runtime_error);
  EXPECT_THROW(torch::Scalar(1e300).toFloat(), std::runtime_error);
  EXPECT_EQ(torch::Scalar(c10::complex<double>(1, 2)).toComplexFloat().imag(), 2);
  EXPECT_THROW(torch::Scalar(c10::complex<double>(1, 2)).toDouble(), std::runtime_error);
  EXPECT_TRUE(torch::Scalar(2).equal(2));
  EXPECT_EQ((-torch::Scalar(2.5)).toDouble(), -2.5);
}

TEST(Tensor, ShiftsHaveOperators) {
  torch::Tensor a = torch::tensor({1, 12});
  EXPECT_TRUE((a << 2).equal(torch::tensor({4, 48})));
  EXPECT_TRUE((a >> torch::tensor({0, 2})).equal(torch::tensor({1, 3})));
  a <<= 1;
  a >>= torch::tensor({1, 0});
  EXPECT_TRUE(a.equal(torch::tensor({1, 24})));
  a &= 8;
  a |= 2;
  a ^= 3;
  EXPECT_TRUE(a.equal(torch::tensor({1, 9})));
}

TEST(Tensor, SettingsThatThisBuildLacksAreRefused) {
  at::Context& context = at::globalContext();
  EXPECT_FALSE(context.hasCUDA() || at::hasCUDA() || context.hasCuDNN() || context.setFlushDenormal(true));
  EXPECT_EQ(at::getNumGPUs(), 0u);
  context.setAllowTF32OneDNN(true);
  EXPECT_TRUE(context.allowTF32OneDNN());
  context.setAllowTF32OneDNN(false);
  EXPECT_THROW(context.lazyInitDevice(at::kCUDA), c10::Error);
  EXPECT_THROW(context.defaultGenerator(at::kCUDA), c10::Error);
  EXPECT_THROW(context.versionCuDNN(), c10::Error);
  EXPECT_THROW(context.setLinalgPreferredBackend(at::LinalgBackend::Magma), c10::Error);
  EXPECT_THROW(context.setQEngine(at::kFBGEMM), c10::Error);
  EXPECT_EQ(context.qEngine(), at::kNoQEngine);
  context.setSDPPriorityOrder({0, 1, 2, 3, 4});
  EXPECT_EQ(context.sDPPriorityOrder()[0], at::SDPBackend::math);
  EXPECT_THROW(context.setSDPPriorityOrder({0}), c10::Error);
}

TEST(Tensor, Options) {
  torch::TensorOptions options = torch::dtype(torch::kDouble).device(torch::kCPU).requires_grad(true);
  EXPECT_EQ(options.dtype(), torch::kDouble);
  EXPECT_TRUE(options.requires_grad());
  EXPECT_FALSE(torch::TensorOptions().has_dtype());
  EXPECT_EQ(options.merge_in(torch::kInt).dtype(), torch::kInt);
  EXPECT_TRUE(torch::ones({2}, options).requires_grad());
  EXPECT_EQ(torch::ones({2}, options).dtype(), torch::kDouble);
  EXPECT_EQ(torch::Device("cuda:1").index(), 1);
  EXPECT_THROW(torch::Device("cuda:x"), c10::Error);
  EXPECT_THROW(torch::Device("tuba"), c10::Error);
}

TEST(Tensor, HalfAndBFloat16RoundToNearest) {
  EXPECT_EQ(c10::Half(0.1f).x, 0x2e66);
  EXPECT_EQ(c10::Half(65519.0f).x, 0x7bff);
  EXPECT_EQ(c10::Half(65520.0f).x, 0x7c00);
  EXPECT_EQ(c10::Half(1e-7f).x, 0x0002);
  EXPECT_EQ(c10::Half(2049.0f).x, 0x6800);
  EXPECT_EQ(c10::Half(2051.0f).x, 0x6802);
  EXPECT_EQ(float(c10::Half(0x0001, c10::Half::from_bits())), 5.9604644775390625e-8f);
  EXPECT_EQ(c10::BFloat16(0.1f).x, 0x3dcd);
  EXPECT_EQ(c10::BFloat16(1.00390625f).x, 0x3f80);
}

TEST(Tensor, Generators) {
  torch::manual_seed(7);
  torch::Tensor first = torch::rand({4});
  torch::manual_seed(7);
  EXPECT_EQ(values(torch::rand({4})), values(first));
  at::Generator own = at::make_generator<at::CPUGeneratorImpl>(7);
  EXPECT_EQ(values(torch::rand({4}, own)), values(first));
  EXPECT_EQ(own.current_seed(), 7u);
  torch::Tensor state = own.get_state();
  torch::Tensor a = torch::rand({3}, own);
  own.set_state(state);
  EXPECT_EQ(values(torch::rand({3}, own)), values(a));
}

TEST(Tensor, GlobalsOfCppHoldTensors) {
  static torch::Tensor kept = torch::ones({3});
  EXPECT_EQ(kept.sum().item<int>(), 3);
}

std::vector<at::Dimname> named(std::initializer_list<const char*> names) {
  std::vector<at::Dimname> list;
  for (const char* name : names) list.push_back(*name == '*' ? at::Dimname::wildcard() : at::Dimname::fromSymbol(at::Symbol::dimname(name)));
  return list;
}

TEST(Factories, OfNumbersExistInBothNamespaces) {
  EXPECT_EQ(at::tensor({1, 2}).scalar_type(), at::kInt);
  EXPECT_EQ(at::tensor(1.5).sizes(), at::IntArrayRef({1}));
  EXPECT_EQ(torch::tensor(1.5).dim(), 0);
  EXPECT_TRUE(at::tensor({1.0, 2.0}, at::dtype(at::kFloat).requires_grad(true)).requires_grad());
  EXPECT_THROW(at::tensor({c10::complex<float>(1, 2)}, at::kFloat), c10::Error);
}

TEST(Names, LabelDimensions) {
  torch::Tensor x = torch::arange(24).reshape({2, 3, 4});
  EXPECT_FALSE(x.has_names());
  EXPECT_FALSE(x.opt_names());
  EXPECT_EQ(x.names().size(), 3u);
  torch::Tensor y = x.rename(named({"N", "*", "W"}));
  EXPECT_TRUE(y.has_names() && y.is_alias_of(x) && !x.has_names());
  EXPECT_EQ(y.names()[0].symbol().toUnqualString(), std::string("N"));
  EXPECT_TRUE(y.names()[1].isWildcard());
  EXPECT_FALSE((y + 1).has_names());
  torch::Tensor z = y.refine_names(named({"N", "H", "W"}));
  EXPECT_EQ(at::dimname_to_position(z, named({"W"})[0]), 2);
  EXPECT_THROW(z.refine_names(named({"N", "C", "W"})), c10::Error);
  EXPECT_THROW(z.rename_(named({"N", "H"})), c10::Error);
  EXPECT_THROW(z.rename_(named({"N", "H", "H"})), c10::Error);
  EXPECT_EQ(z.names()[1], named({"H"})[0]);
  EXPECT_FALSE(z.rename_(std::nullopt).has_names());
}

TEST(Names, BelongToNewTensors) {
  torch::Tensor x = at::zeros({2, 3}, named({"N", "C"}), torch::kLong);
  EXPECT_EQ(x.scalar_type(), torch::kLong);
  EXPECT_EQ(x.get_named_tensor_meta()->names()[1], named({"C"})[0]);
  EXPECT_EQ(at::ones({2}, named({"N"})).sum().item<float>(), 2);
  EXPECT_THROW(at::empty({2, 3}, named({"N"})), c10::Error);
  EXPECT_TRUE(at::empty({2}, {}).sizes() == torch::IntArrayRef({2}));
  EXPECT_EQ(at::empty({2, 3}, named({"*", "*"})).get_named_tensor_meta(), nullptr);
  EXPECT_TRUE(&at::internal_set_names_inplace(x, named({"H", "W"})) == &x);
  EXPECT_EQ(at::impl::get_opt_names(x.unsafeGetTensorImpl())->front(), named({"H"})[0]);
  x.unsafeGetTensorImpl()->set_named_tensor_meta(std::make_unique<at::NamedTensorMeta>(at::NamedTensorMeta::HasNonWildcard, named({"A", "B"})));
  EXPECT_EQ(x.names()[0], named({"A"})[0]);
  x.unsafeGetTensorImpl()->set_named_tensor_meta(nullptr);
  EXPECT_FALSE(x.has_names());
}

TEST(Names, AreInvisibleUnderAGuard) {
  torch::Tensor x = torch::ones({2}).rename(named({"N"}));
  {
    at::NoNamesGuard guard, inner;
    inner.reset();
    EXPECT_FALSE(at::NamesMode::is_enabled());
    EXPECT_FALSE(x.has_names() || x.opt_names() || x.get_named_tensor_meta());
    EXPECT_TRUE(x.names()[0].isWildcard());
    std::thread([&] { EXPECT_TRUE(x.has_names()); }).join();
    guard.reset();
    EXPECT_TRUE(x.has_names());
  }
  EXPECT_TRUE(at::NamesMode::is_enabled());
}

TEST(Names, ChooseDimensions) {
  torch::Tensor x = torch::arange(24).reshape({2, 3, 4}).rename_(named({"N", "H", "W"}));
  torch::Tensor y = x.align_to(named({"W", "C", "N", "H"}));
  EXPECT_EQ(y.sizes(), torch::IntArrayRef({4, 1, 2, 3}));
  EXPECT_EQ(y[3][0][1][2].item<int64_t>(), x[1][2][3].item<int64_t>());
  EXPECT_EQ(y.names()[1], named({"C"})[0]);
  EXPECT_EQ(x.align_to(named({"W"}), 0).sizes(), torch::IntArrayRef({2, 3, 4}));
  EXPECT_EQ(x.align_to(named({"W"}), 1).sizes(), torch::IntArrayRef({4, 2, 3}));
  EXPECT_THROW(x.align_to(named({"N", "H"})), c10::Error);
  torch::Tensor flat = x.flatten(named({"H", "W"}), named({"F"})[0]);
  EXPECT_EQ(flat.sizes(), torch::IntArrayRef({2, 12}));
  EXPECT_EQ(flat.names()[1], named({"F"})[0]);
  EXPECT_THROW(x.flatten(named({"N", "W"}), named({"F"})[0]), c10::Error);
  torch::Tensor back = flat.unflatten(named({"F"})[0], {3, 4}, named({"H", "W"}));
  EXPECT_TRUE(back.equal(x));
  EXPECT_EQ(back.names()[2], named({"W"})[0]);
}

TEST(Names, UnflattenByModule) {
  torch::Tensor x = torch::arange(16).reshape({2, 8}).refine_names(named({"N", "features"}));
  torch::nn::Unflatten unflatten(torch::nn::UnflattenOptions("features", {{"C", 2}, {"H", 2}, {"W", 2}}));
  torch::Tensor y = unflatten->forward(x);
  EXPECT_TRUE(y.equal(torch::arange(16).reshape({2, 2, 2, 2})));
  EXPECT_EQ(y.names()[3], named({"W"})[0]);
}

TEST(Operators, HaveAFunctionForEachOverload) {
  torch::Tensor x = torch::tensor({1.0, 0.0, 3.0});
  EXPECT_TRUE(at::_ops::where::call(x)[0].equal(torch::tensor({0, 2})));
  EXPECT_TRUE(at::_ops::add_Tensor::call(x, x, 2).equal(x * 3));
  torch::Tensor out = torch::empty(3);
  at::_ops::mul_out::call(x, x, out);
  EXPECT_TRUE(out.equal(x * x));
  EXPECT_TRUE(at::_ops::fill__Scalar::call(out, 4).is_same(out));
  EXPECT_EQ(at::_ops::fill__Scalar::name, std::string("aten::fill_"));
  EXPECT_EQ(at::_ops::add_Tensor::overload_name, std::string("Tensor"));
}

TEST(Storages, AreBoundByReference) {
  torch::Tensor x = torch::zeros(3);
  auto& storage = x.storage();
  auto& pointer = storage.data_ptr();
  EXPECT_EQ(pointer.get(), x.data_ptr());
  storage.set_nbytes(12);
  EXPECT_THROW(storage.set_nbytes(8), c10::NotImplementedError);
}

TEST(Indices, MayBeAListOfOptionalTensors) {
  torch::Tensor x = torch::zeros({2, 3});
  c10::List<std::optional<torch::Tensor>> indices;
  indices.push_back(std::nullopt);
  indices.push_back(torch::tensor({2, 2}));
  x.index_put_(indices, torch::ones({2, 2}), true);
  EXPECT_EQ(x[1][2].item<float>(), 2);
  EXPECT_EQ(x.index(indices).sum().item<float>(), 8);
}

}  // namespace
