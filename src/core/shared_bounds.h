// shared_bounds.h: what any network with a given family can be worth, for all allowed families at once, from sums over
// orders. Admissible: yes; every bound is raised by more than rounding can take from it.
#pragma once

#include <vector>

#include "lattice.h"
#include "order_sums.h"

namespace topdag {

struct AllowedFamily {
    VarSet parents;
    double score;
    double bound;  // no network with this family is worth more
};

// By variable; none may be empty.
using AllowedFamilies = std::vector<std::vector<AllowedFamily>>;

// The value of a part of all orders: R = sum * exp(scale), rounded up.
double raised_log(double sum, double scale);

class SharedBounds {
public:
    SharedBounds(OrderSums& sums) : sums_(sums), buffers_(sums.threads()) {}

    // From the best parents of all families. Keeps the families with a bound of at least `threshold`; without `dominated`
    // only those that beat all their subsets, which is enough for the best network. Empty when a limit stopped it.
    AllowedFamilies families_reaching(const Lattice& lattice, double threshold, bool dominated, Limits& limits);

    // Lets every variable choose from these families. What has not changed since the last time is not done again.
    void choose(const AllowedFamilies& families, Limits& limits);
    // Bounds of the families last chosen. Needs R and B.
    void bound(AllowedFamilies& families, Limits& limits);

    static double bytes(int n, int threads) { return 8.0 * 3.0 * threads * static_cast<double>(n_sets(n - 1)); }

private:
    struct Buffers { BigArray shares, best, part; };
    Buffers& buffers(int worker);
    VarSet fill_best(const std::vector<AllowedFamily>& own, double* best) const;

    OrderSums& sums_;
    std::vector<Buffers> buffers_;
    std::vector<std::vector<VarSet>> chosen_;  // parents by variable, as they were last chosen
};

}  // namespace topdag
