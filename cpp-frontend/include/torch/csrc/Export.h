// TORCH_API and similar macros, which are empty: the frontend is headers.
#pragma once

#include <c10/macros/Export.h>
