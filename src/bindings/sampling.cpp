// sampling.cpp
#include "binding.h"

namespace topdag {

void bind_sampling(nb::module_&) {}

}  // namespace topdag
