// block_lattice.cpp
#include "binding.h"

namespace topdag {

void bind_block_lattice(nb::module_&) {}

}  // namespace topdag
