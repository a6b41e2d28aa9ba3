// family_bounds.h: the best network that has a given family, for all families at once.
//
//   M(x, U) = local(x | U) + max over Y with U in Y, x not in Y, of F(Y) + H(Y + x)
//
// A family occurs in some network scoring at least t exactly when M(x, U) >= t.
#pragma once

#include <functional>
#include <vector>

#include "lattice/lattice.h"

namespace topdag {

struct ScoredFamily {
    VarSet parents;
    double score;  // local
    double bound;  // M: the score of the best network that has it
};

// Families by variable, best local score first, ties by their bits.
using FamilyTable = std::vector<std::vector<ScoredFamily>>;

// The families with M >= threshold. Needs F and H. Empty when a limit stopped it.
FamilyTable families_reaching(const Lattice& lattice, double threshold, Limits& limits);

// The families that the k best networks, or classes, can need: those with M at least a floor that k of them reach.
// For one x, families that differ belong to networks that differ, so the k-th largest M(x, .) is such a floor for
// networks; for classes only scores that differ tell them apart, so equal ones count once. Of all x the best floor.
struct KBestFamilies {
    FamilyTable families;
    double floor;  // minus infinity when no variable has k families
};
KBestFamilies families_for_k_best(const Lattice& lattice, std::size_t k, bool of_classes, Limits& limits);

// The same from any table of M: fill(x, local, bound) writes the local scores of x and M by slot.
struct AllBounds {
    int n_variables;
    std::function<void(int x, BigArray& local, BigArray& bound)> fill;
};
FamilyTable families_reaching(const AllBounds& bounds, double threshold, Limits& limits);
KBestFamilies families_for_k_best(const AllBounds& bounds, std::size_t k, bool of_classes, Limits& limits);

// M of one family.
double family_bound(const Lattice& lattice, int x, VarSet parents);

// The best network with and without each edge p -> x: entry [p * n + x]; minus infinity where there is none. Empty when a
// limit stopped it.
struct EdgeBounds { std::vector<double> with, without; };
EdgeBounds edge_bounds(const Lattice& lattice, Limits& limits);

}  // namespace topdag
