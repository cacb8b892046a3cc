// Guards of devices and streams, copy-on-write storages, sizes and strides, and the name of PrivateUse1.
#include <c10/core/CPUAllocator.h>
#include <c10/core/CompileTimeFunctionPointer.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/FakeGuardImpl.h>
#include <c10/core/impl/SizesAndStrides.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

using c10::Device;
using c10::DeviceType;
using Fake = c10::impl::FakeGuardImpl<DeviceType::XPU>;

TEST(C10Guards, RestoreDevicesAndStreams) {
  Fake fake;
  Fake::setDeviceIndex(1);
  Fake::resetStreams();
  {
    c10::DeviceGuard guard(Device(DeviceType::XPU, 3), &fake);
    EXPECT_EQ(Fake::getDeviceIndex(), 3);
    EXPECT_EQ(guard.original_device(), Device(DeviceType::XPU, 1));
    guard.set_index(2);
    EXPECT_EQ(Fake::getDeviceIndex(), 2);
    c10::impl::InlineStreamGuard<Fake> streams(c10::Stream(c10::Stream::UNSAFE, Device(DeviceType::XPU, 5), 7));
    EXPECT_EQ(Fake::getDeviceIndex(), 5);
    EXPECT_EQ(Fake::getCurrentStreamIdFor(5), 7);
    EXPECT_EQ(streams.original_stream().device_index(), 2);
  }
  EXPECT_EQ(Fake::getDeviceIndex(), 1);
  EXPECT_EQ(Fake::getCurrentStreamIdFor(5), 0);
  EXPECT_THROW(Fake::setDeviceIndex(8), c10::Error);
}

TEST(C10Guards, RequireAnImplementation) {
  EXPECT_THROW(c10::DeviceGuard(Device(DeviceType::MPS, 0)), c10::Error);
  c10::DeviceGuard cpu{Device(DeviceType::CPU)};
  EXPECT_EQ(cpu.current_device(), Device(DeviceType::CPU));
  c10::OptionalDeviceGuard none;
  EXPECT_FALSE(none.current_device().has_value());
}

TEST(C10Storages, AWriteCopiesSharedMemory) {
  namespace cow = c10::impl::cow;
  c10::StorageImpl first({}, 4, c10::GetCPUAllocator(), true);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data()) % c10::gAlignment, 0u);
  std::memcpy(first.mutable_data(), "abc", 4);
  auto second = cow::lazy_clone_storage(first);
  EXPECT_EQ(second->data(), first.data());
  static_cast<char*>(second->mutable_data())[0] = 'x';
  EXPECT_STREQ(static_cast<const char*>(first.data()), "abc");
  EXPECT_STREQ(static_cast<const char*>(second->data()), "xbc");
  EXPECT_TRUE(cow::is_cow_data_ptr(first.data_ptr()));
  const void* before = first.data();
  EXPECT_EQ(first.mutable_data(), before);
  EXPECT_FALSE(cow::is_cow_data_ptr(first.data_ptr()));
  EXPECT_THROW(c10::StorageImpl({}, int64_t{1} << 60, c10::GetCPUAllocator(), false), c10::OutOfMemoryError);
}

TEST(C10Storages, ContextsAreDeletedOnce) {
  static int deleted = 0;
  static int memory = 0;
  auto deleter = +[](void*) { ++deleted; };
  {
    c10::DataPtr pointer(&memory, &memory, deleter, Device(DeviceType::CPU));
    c10::DataPtr moved = std::move(pointer);
    EXPECT_EQ(moved.get(), &memory);
    EXPECT_EQ(moved.cast_context<int>(deleter), &memory);
    EXPECT_EQ(moved.cast_context<int>(&c10::free_cpu), nullptr);
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(C10SizesAndStrides, NewDimensionsAreZero) {
  c10::impl::SizesAndStrides shape;
  shape.set_sizes({4, 5, 6});
  shape.set_strides({30, 6, 1});
  shape.resize(7);
  EXPECT_EQ(shape.sizes_arrayref().vec(), (std::vector<int64_t>{4, 5, 6, 0, 0, 0, 0}));
  EXPECT_EQ(shape.strides_arrayref().vec(), (std::vector<int64_t>{30, 6, 1, 0, 0, 0, 0}));
  c10::impl::SizesAndStrides moved = std::move(shape);
  EXPECT_EQ(moved.size(), 7u);
  EXPECT_EQ(shape.size(), 0u);
  EXPECT_THROW(moved.set_strides({1}), c10::Error);
}

int twice(int number) { return 2 * number; }
static_assert(TORCH_FN_TYPE(twice)::func_ptr() == &twice);

TEST(C10Devices, PrivateUse1HasOneName) {
  EXPECT_EQ(c10::get_privateuse1_backend(), "privateuseone");
  EXPECT_THROW(c10::register_privateuse1_backend("cuda"), c10::Error);
}

TEST(C10Functions, AreTypes) {
  auto function = TORCH_FN(twice);
  EXPECT_EQ(decltype(function)::func_ptr()(4), 8);
}

TEST(C10SymInt, IsANumberThatDoesNotConvertByItself) {
  using c10::SymInt;
  static_assert(!std::is_convertible_v<SymInt, int64_t>);
  SymInt five(5);
  EXPECT_EQ(five.expect_int(), 5);
  EXPECT_EQ(five.maybe_as_int(), 5);
  EXPECT_FALSE(five.is_symbolic());
  EXPECT_EQ((five * 2 - 3) / 2 % 2, SymInt(1));
  EXPECT_EQ((2 - five).expect_int(), -3);
  EXPECT_EQ((five * 0.5).expect_float(), 2.5);
  EXPECT_TRUE(five > 4 && 6 > five && five != size_t{4} && five < 5.5);
  EXPECT_EQ(five.min(3).expect_int(), 3);
  EXPECT_TRUE(five.sym_eq(5).sym_and(true).guard_bool(__FILE__, __LINE__));
  // Sums wrap around.
  EXPECT_NE(-(SymInt(INT64_MAX) + 1), SymInt(0));
  EXPECT_TRUE(SymInt::check_range(INT64_MAX));
  EXPECT_FALSE(SymInt::check_range(INT64_MIN));
  std::ostringstream text;
  text << five;
  EXPECT_EQ(text.str(), "5");
}

TEST(C10SymInt, SizesOfTensorsAreViews) {
  at::Tensor x = at::zeros({2, 3});
  c10::SymIntArrayRef sizes = x.sym_sizes();
  EXPECT_EQ(C10_AS_INTARRAYREF_SLOW(sizes), x.sizes());
  EXPECT_EQ(x.sym_numel() * x.sym_size(1), 18);
  EXPECT_EQ(x.sym_stride(0), x.sym_size(-1));
  c10::IValue value(sizes);
  EXPECT_EQ(value.toIntVector(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(c10::IValue(c10::SymInt(4)).toSymInt(), 4);
  EXPECT_EQ(c10::IValue(7).to<c10::SymInt>(), 7);
  EXPECT_EQ(c10::Scalar(c10::SymInt(4)).toLong(), 4);
  std::optional<c10::SymInt> stop = 1;
  EXPECT_EQ(x.index({torch::indexing::Slice(torch::indexing::None, stop), c10::SymInt(2)}).sizes(), at::IntArrayRef({1}));
}

TEST(C10Allocator, ReportsOfAProgramAreCounted) {
  size_t before = c10::profiledCPUMemoryReporter().allocated();
  int place = 0;
  c10::profiledCPUMemoryReporter().New(&place, 16);
  EXPECT_EQ(c10::profiledCPUMemoryReporter().allocated(), before + 16);
  c10::profiledCPUMemoryReporter().Delete(&place);
  c10::profiledCPUMemoryReporter().Delete(&place);
  EXPECT_EQ(c10::profiledCPUMemoryReporter().allocated(), before);
}

}  // namespace
