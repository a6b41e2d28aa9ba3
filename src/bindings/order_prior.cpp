// order_prior.cpp
#include "binding.h"

namespace topdag {

void bind_order_prior(nb::module_&) {}

}  // namespace topdag
