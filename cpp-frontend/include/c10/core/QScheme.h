// The schemes of quantized tensors, with their frozen numbers.
#pragma once

#include <c10/util/Exception.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class QScheme : uint8_t {
  PER_TENSOR_AFFINE = 0,
  PER_CHANNEL_AFFINE = 1,
  PER_TENSOR_SYMMETRIC = 2,
  PER_CHANNEL_SYMMETRIC = 3,
  PER_CHANNEL_AFFINE_FLOAT_QPARAMS = 4,
  COMPILE_TIME_NUM_QSCHEMES = 5,
};

constexpr QScheme kPerTensorAffine = QScheme::PER_TENSOR_AFFINE;
constexpr QScheme kPerChannelAffine = QScheme::PER_CHANNEL_AFFINE;
constexpr QScheme kPerTensorSymmetric = QScheme::PER_TENSOR_SYMMETRIC;
constexpr QScheme kPerChannelSymmetric = QScheme::PER_CHANNEL_SYMMETRIC;
constexpr QScheme kPerChannelAffineFloatQParams = QScheme::PER_CHANNEL_AFFINE_FLOAT_QPARAMS;

inline std::string toString(QScheme scheme) {
  switch (scheme) {
    case kPerTensorAffine: return "per_tensor_affine";
    case kPerChannelAffine: return "per_channel_affine";
    case kPerTensorSymmetric: return "per_tensor_symmetric";
    case kPerChannelSymmetric: return "per_channel_symmetric";
    case kPerChannelAffineFloatQParams: return "per_channel_affine_float_qparams";
    default: break;
  }
  rlt::raise<Error>("Unrecognized qscheme: " + std::to_string(static_cast<int>(scheme)));
}

RLT_NAMESPACE_END
}  // namespace c10
