// The one header that programs include.
#pragma once
#include <torch/all.h>
