// sparse_lattice.cpp
#include "binding.h"

namespace topdag {

void bind_sparse_lattice(nb::module_&) {}

}  // namespace topdag
