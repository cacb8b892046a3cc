// at::cuda::CUDAEvent: a point in the work of a stream, to wait for or to measure time with.
#pragma once

#include <c10/cuda/CUDAGuard.h>

#include <optional>
#include <utility>

#ifndef cudaEventDefault
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#endif

namespace at {
RLT_NAMESPACE_BEGIN
namespace cuda {

using namespace c10::cuda;

/// Created when it is first recorded, on the device of that stream. Without cudaEventDefault it has no timing.
class CUDAEvent {
 public:
  CUDAEvent() noexcept = default;
  explicit CUDAEvent(unsigned int flags) noexcept : flags_(flags) {}
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  CUDAEvent(CUDAEvent&& other) noexcept { swap(other); }
  CUDAEvent& operator=(CUDAEvent&& other) noexcept {
    swap(other);
    return *this;
  }
  ~CUDAEvent() { rlt_cuda_event_free(event_); }

  bool isCreated() const { return device_.has_value(); }
  std::optional<Device> device() const { return device_; }
  DeviceIndex device_index() const { return device_ ? device_->index() : DeviceIndex{-1}; }

  /// Whether the recorded work has run; true if none was recorded.
  bool query() const {
    if (!event_) return true;
    int32_t done = 0;
    rlt::check(rlt_cuda_event_query(event_, &done));
    return done != 0;
  }
  void record() { record(getCurrentCUDAStream()); }
  void recordOnce(const CUDAStream& stream) {
    if (!recorded_) record(stream);
  }
  /// Records the work that the stream has now.
  void record(const CUDAStream& stream) {
    if (!event_) rlt::check(rlt_cuda_event_new((flags_ & cudaEventDisableTiming) == 0, &event_));
    rlt::check(rlt_cuda_event_record(event_, c10::cuda::impl::to_c(stream.unwrap())));
    device_ = stream.device();
    recorded_ = true;
  }
  /// Lets later work of the stream wait for the recorded work.
  void block(const CUDAStream& stream) {
    if (event_) rlt::check(rlt_cuda_event_block(event_, c10::cuda::impl::to_c(stream.unwrap())));
  }
  /// Milliseconds from this event to another one. Both have timing, and their work has run.
  float elapsed_time(const CUDAEvent& other) const {
    TORCH_CHECK(recorded_ && other.recorded_, "Both events must be recorded before calculating elapsed time.");
    TORCH_CHECK(query() && other.query(), "Both events must be completed before calculating elapsed time.");
    double milliseconds = 0;
    rlt::check(rlt_cuda_event_elapsed(event_, other.event_, &milliseconds));
    return static_cast<float>(milliseconds);
  }
  void synchronize() const {
    if (event_) rlt::check(rlt_cuda_event_synchronize(event_));
  }

 private:
  void swap(CUDAEvent& other) noexcept {
    std::swap(flags_, other.flags_);
    std::swap(event_, other.event_);
    std::swap(device_, other.device_);
    std::swap(recorded_, other.recorded_);
  }

  unsigned int flags_ = cudaEventDisableTiming;
  rlt_cuda_event* event_ = nullptr;
  std::optional<Device> device_;
  bool recorded_ = false;
};

}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace at
