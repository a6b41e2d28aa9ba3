// relaxation.cpp
#include "binding.h"

namespace topdag {

void bind_relaxation(nb::module_&) {}

}  // namespace topdag
