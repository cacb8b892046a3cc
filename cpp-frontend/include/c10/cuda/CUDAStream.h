// Streams of CUDA devices: queues of work that run beside each other.
#pragma once

#include <c10/cuda/impl/CUDAGuardImpl.h>
#include <c10/util/Exception.h>

/// The driver's type of a stream. A program that includes the driver's header has the same declaration.
typedef struct CUstream_st* cudaStream_t;

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace cuda {

class CUDAStream {
 public:
  enum Unchecked { UNCHECKED };

  explicit CUDAStream(Stream stream) : stream_(stream) {
    TORCH_CHECK(stream.device_type() == DeviceType::CUDA, "CUDAStream: expected a stream of a CUDA device, got ", stream.device());
  }
  explicit CUDAStream(Unchecked, Stream stream) : stream_(stream) {}

  bool operator==(const CUDAStream& other) const noexcept { return stream_ == other.stream_; }
  bool operator!=(const CUDAStream& other) const noexcept { return stream_ != other.stream_; }
  operator cudaStream_t() const { return stream(); }
  operator Stream() const { return stream_; }

  DeviceType device_type() const { return DeviceType::CUDA; }
  DeviceIndex device_index() const { return stream_.device_index(); }
  Device device() const { return Device(DeviceType::CUDA, device_index()); }
  StreamId id() const { return stream_.id(); }
  Stream unwrap() const { return stream_; }
  /// The driver's handle.
  cudaStream_t stream() const { return reinterpret_cast<cudaStream_t>(static_cast<uintptr_t>(stream_.id())); }

  /// Whether all work of the stream has run.
  bool query() const {
    int32_t done = 0;
    rlt::check(rlt_cuda_stream_query(impl::to_c(stream_), &done));
    return done != 0;
  }
  /// Waits for all work of the stream.
  void synchronize() const { rlt::check(rlt_cuda_stream_synchronize(impl::to_c(stream_))); }

 private:
  Stream stream_;
};

/// A stream from the pool of a device; index -1 is the current device. The 32 streams of each priority are given out in turn.
inline CUDAStream getStreamFromPool(const bool isHighPriority = false, DeviceIndex device = -1) {
  rlt_stream stream{};
  rlt::check(rlt_cuda_stream_from_pool(device, isHighPriority, &stream));
  return CUDAStream(impl::from_c(stream));
}
/// A negative priority is a high one.
inline CUDAStream getStreamFromPool(const int priority, DeviceIndex device = -1) { return getStreamFromPool(priority < 0, device); }
/// A stream that the program created with the driver, which must live as long as it is used.
inline CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device) {
  return CUDAStream(Stream(Stream::UNSAFE, Device(DeviceType::CUDA, device), static_cast<StreamId>(reinterpret_cast<uintptr_t>(stream))));
}
inline CUDAStream getDefaultCUDAStream(DeviceIndex device = -1) {
  rlt_stream stream{};
  rlt::check(rlt_cuda_stream_default(device, &stream));
  return CUDAStream(impl::from_c(stream));
}
inline CUDAStream getCurrentCUDAStream(DeviceIndex device = -1) {
  rlt_stream stream{};
  rlt::check(rlt_cuda_stream_current(device, &stream));
  return CUDAStream(impl::from_c(stream));
}
/// Makes a stream the current one of its device. The current device stays.
inline void setCurrentCUDAStream(CUDAStream stream) { rlt::check(rlt_cuda_stream_set_current(impl::to_c(stream.unwrap()))); }
inline std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) { return out << stream.unwrap(); }

}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace c10

template <>
struct std::hash<c10::cuda::CUDAStream> {
  size_t operator()(c10::cuda::CUDAStream stream) const noexcept { return std::hash<c10::Stream>{}(stream.unwrap()); }
};
