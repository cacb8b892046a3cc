// Programs name it by its place in PyTorch. The path is relative, as this folder may be on the include path.
#pragma once

#include "../../../../types.h"
