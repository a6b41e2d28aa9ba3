// order_search.cpp
#include "binding.h"

namespace topdag {

void bind_order_search(nb::module_&) {}

}  // namespace topdag
