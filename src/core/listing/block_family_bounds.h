// block_family_bounds.h: family_bounds.h for the block lattice, with no table over all sets of parents.
//
// A family with M(x, U) >= t has a set Y of variables that may come before x: U in Y and F(Y) + local(x | U) + H(Y + x)
// >= t. Then F(Y) + best(x, Y) + H(Y + x) >= t too. So first such Y are gathered, from those blocks that reach t; one
// inside another that gives as much is not needed. Then M is made, block by block, from the gathered ones alone, where a
// block has a local score that may reach t.
#pragma once

#include <new>

#include "lattice/block_lattice.h"
#include "lattice/family_bounds.h"

namespace topdag {

// Thrown when more families would be read than the lattice has room for.
struct TooManyFamilies : std::bad_alloc {};

// The families with M >= threshold. Needs F and H. Empty when a limit stopped it.
FamilyTable families_reaching(const BlockLattice& lattice, double threshold, Limits& limits);

// The families that the k best networks, or classes, can need: those with M at least a floor that k of them reach. The
// floor is lowered until a walk finds so many: most of the work grows with how far it lies below the best.
KBestFamilies families_for_k_best(const BlockLattice& lattice, std::size_t k, bool of_classes, Limits& limits);

}  // namespace topdag
