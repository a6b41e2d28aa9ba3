// pruned_scores.cpp
#include "binding.h"

namespace topdag {

void bind_pruned_scores(nb::module_&) {}

}  // namespace topdag
