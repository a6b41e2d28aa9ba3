// packed_families.h: a variable with its parents in 32 bits, and the local scores of all families as a table.
//
// For searches over partial networks of up to 26 variables, which hold families by the million.
#pragma once

#include <cstdint>
#include <vector>

#include "base/big_array.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "lattice/lattice.h"

namespace topdag {

class PackedFamily {
public:
    static constexpr int most_variables = 26;

    PackedFamily() = default;
    PackedFamily(int x, VarSet parents)
        : bits_(static_cast<std::uint32_t>(parents) | static_cast<std::uint32_t>(x) << most_variables) {}

    int variable() const { return static_cast<int>(bits_ >> most_variables); }
    VarSet parents() const { return bits_ & (only(most_variables) - 1); }
    // By variable, then by parents.
    auto operator<=>(const PackedFamily&) const = default;

private:
    std::uint32_t bits_ = 0;
};

class PackedFamilies {
public:
    // `undominated`: only families that score more than those with fewer of the same parents. No network with another
    // one is best, alone or under a prior that never falls when an edge is removed. The lattice must outlive this.
    PackedFamilies(const Lattice& lattice, bool undominated);
    // To be called first; false when a limit stopped it.
    bool fill(Limits& limits);

    int n_variables() const { return n_; }
    // Minus infinity when not allowed.
    double local(int x, VarSet parents) const { return local_[x][without_bit(parents, x)]; }
    // Parents of x, best first, ties by their bits.
    using Parents = std::vector<std::uint32_t>;
    const Parents& best_first(int x) const { return best_first_[x]; }
    // Where the first stands that lies inside this set.
    Parents::const_iterator first_within(int x, VarSet set) const;

    // Bytes, at most.
    static double bytes(int n) { return 12.0 * n * many_sets(n - 1); }

private:
    void leave_out_dominated(int x);
    void sort(int x);

    const Lattice& lattice_;
    int n_;
    bool undominated_;
    std::vector<BigArray> local_;      // by variable, then by slot
    std::vector<Parents> best_first_;  // by variable
};

}  // namespace topdag
