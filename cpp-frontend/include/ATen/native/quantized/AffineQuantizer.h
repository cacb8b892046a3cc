#pragma once

#include <ATen/native/quantized/AffineQuantizerBase.h>
