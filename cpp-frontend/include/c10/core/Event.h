// c10::Event: a point in the work of a stream of any kind of device, which other streams and the host wait for. CUDA devices have
// events; the CPU has none, as in libtorch.
#pragma once

#include <ATen/cuda/CUDAEvent.h>
#include <c10/core/Stream.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// PYTORCH_DEFAULT has no time stamps, BACKEND_DEFAULT has them.
enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT, INVALID };

struct Event final {
  Event() = delete;
  explicit Event(DeviceType device_type, EventFlag flag = EventFlag::PYTORCH_DEFAULT)
      : event_(flag == EventFlag::BACKEND_DEFAULT ? cudaEventDefault : cudaEventDisableTiming), type_(device_type), flag_(flag) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&&) noexcept = default;
  Event& operator=(Event&&) noexcept = default;
  ~Event() = default;

  /// The device of the stream that it was recorded on; index -1 before that.
  Device device() const noexcept { return Device(type_, device_index()); }
  DeviceType device_type() const noexcept { return type_; }
  DeviceIndex device_index() const noexcept { return event_.device_index(); }
  EventFlag flag() const noexcept { return flag_; }
  bool was_marked_for_recording() const noexcept { return event_.isCreated(); }

  /// Records the work that the stream has now.
  void record(const Stream& stream) {
    check(stream, "recording");
    event_.record(at::cuda::CUDAStream(stream));
  }
  void recordOnce(const Stream& stream) {
    if (!was_marked_for_recording()) record(stream);
  }
  /// Lets later work of the stream wait for the recorded work.
  void block(const Stream& stream) const {
    if (!was_marked_for_recording()) return;
    check(stream, "blocking");
    const_cast<at::cuda::CUDAEvent&>(event_).block(at::cuda::CUDAStream(stream));
  }
  /// Whether the recorded work has run; true if none was recorded.
  bool query() const { return event_.query(); }
  void synchronize() const { event_.synchronize(); }
  /// Milliseconds from this event to another one.
  double elapsedTime(const Event& event) const {
    TORCH_CHECK(event.device_type() == type_, "Event device type ", event.device_type(), " does not match other's device type ", type_, ".");
    TORCH_CHECK(flag_ == EventFlag::BACKEND_DEFAULT && event.flag_ == EventFlag::BACKEND_DEFAULT,
                "Both events must be created with argument 'enable_timing=True'.");
    return event_.elapsed_time(event.event_);
  }

 private:
  void check(const Stream& stream, const char* what) const {
    TORCH_CHECK(stream.device_type() == type_, "Event device type ", type_, " does not match ", what, " stream's device type ", stream.device_type(), ".");
    TORCH_CHECK(type_ == DeviceType::CUDA, type_, " backend doesn't support events.");
  }

  at::cuda::CUDAEvent event_;
  DeviceType type_;
  EventFlag flag_;
};

RLT_NAMESPACE_END
}  // namespace c10
