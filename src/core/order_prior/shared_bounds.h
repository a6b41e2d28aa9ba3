// shared_bounds.h: what any network with a given family can be worth, for all allowed families at once, from sums over
// orders. Admissible: yes; every bound is raised by more than rounding can take from it.
#pragma once

#include <vector>

#include "lattice/lattice.h"
#include "order_prior/order_sums.h"
#include "order_prior/sparse_sums.h"

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
    SharedBounds(OrderSums& sums, int threads) : sums_(sums), threads_(threads), buffers_(threads) {}

    // From the best parents of all families. Keeps the families with a bound of at least `threshold`; without
    // `dominated` only those that beat all their subsets, which is enough for the best network. Empty when stopped.
    AllowedFamilies families_reaching(const Lattice& lattice, double threshold, bool dominated, Limits& limits);

    // Lets every variable choose from these families. What has not changed since the last time is not done again.
    void choose(const AllowedFamilies& families, Limits& limits);
    // Bounds of the families last chosen. Needs R and B.
    void bound(AllowedFamilies& families, Limits& limits);

    // For sparse sums: tables of the best parents in these families, up to a share of the memory there is for such
    // tables. False when they would be larger, or stopped.
    bool tabulate(const AllowedFamilies& families, double share, Limits& limits);
    const std::vector<BestWithin>& tables() const { return tables_; }
    // Bounds of the families last tabulated.
    void bound(AllowedFamilies& families, const SparseSums& sparse, Limits& limits);

    static double bytes(int n, int threads) { return 8.0 * 1.5 * threads * many_sets(n); }
    // Of the tables for sparse sums, at their largest.
    static double table_bytes(int n) { return 8.0 * 2.0 * tables_of_sets * many_sets(n); }

private:
    // For sparse sums as much memory as this many tables over all sets is taken, and again for shares.
    static constexpr std::size_t tables_of_sets = 4;

    struct Buffers { BigArray shares, best, part; };
    Buffers& buffers(int worker);
    void bound_from(std::vector<AllowedFamily>& own, const BestWithin& table, const double* shares, double* part,
                    double left_out) const;

    OrderSums& sums_;
    int threads_;
    std::vector<Buffers> buffers_;
    std::vector<std::vector<VarSet>> chosen_;  // parents by variable, as they were last chosen
    std::vector<double> best_, shares_;        // what tables_ look into, and as many shares
    std::vector<BestWithin> tables_;
};

}  // namespace topdag
