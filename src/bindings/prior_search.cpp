// prior_search.cpp
#include "binding.h"

namespace topdag {

void bind_prior_search(nb::module_&) {}

}  // namespace topdag
