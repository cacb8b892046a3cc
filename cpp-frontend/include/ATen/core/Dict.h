// Dict for programs: the container (ATen/core/dict_class.h) and the classes of types.
#pragma once

#include <ATen/core/ivalue.h>
