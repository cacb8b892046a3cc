// The engines of quantized operators, by name. This build has none of them.
#pragma once

#include <c10/util/Exception.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class QEngine : uint8_t { NoQEngine, FBGEMM, QNNPACK, ONEDNN, X86 };

constexpr QEngine kNoQEngine = QEngine::NoQEngine;
constexpr QEngine kFBGEMM = QEngine::FBGEMM;
constexpr QEngine kQNNPACK = QEngine::QNNPACK;
constexpr QEngine kONEDNN = QEngine::ONEDNN;
constexpr QEngine kX86 = QEngine::X86;

inline std::string toString(QEngine engine) {
  switch (engine) {
    case kNoQEngine: return "NoQEngine";
    case kFBGEMM: return "FBGEMM";
    case kQNNPACK: return "QNNPACK";
    case kONEDNN: return "ONEDNN";
    case kX86: return "X86";
  }
  rlt::raise<Error>("Unrecognized Quantized Engine: " + std::to_string(static_cast<int>(engine)));
}

RLT_NAMESPACE_END
}  // namespace c10
