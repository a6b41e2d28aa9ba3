// clusters.h: cuts on families that every network meets, found where a fractional solution breaks them.
//
// In any order the first k members of a set C have fewer than k parents inside C. So of the families a network uses, at
// least k belong to a member of C and have fewer than k parents in C [Jaakkola et al. 2010; Cussens 2011].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "run_limits.h"
#include "var_set.h"

namespace topdag {

// At least k of a network's families belong to a member and have fewer than k parents among the members.
struct Cluster {
    VarSet members;
    int k;

    bool operator==(const Cluster&) const = default;
    bool counts(int v, VarSet parents) const { return has(members, v) && size_of(parents & members) < k; }
};

// Families of v stand from offsets[v] to offsets[v + 1]. Those with allowed[i] == 0 are left out; no mask, none is.
struct FamilyView {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint64_t> parents;
    std::span<const std::uint8_t> allowed;

    int n_variables() const { return static_cast<int>(offsets.size()) - 1; }
    bool has_family(std::int64_t i) const { return allowed.empty() || allowed[i] != 0; }
};

struct WeightedFamily {
    VarSet parents;
    double weight;
};

// The families of each variable that a solution uses, with weights that add up to one.
using Support = std::vector<std::vector<WeightedFamily>>;

Support support_of(const FamilyView& families, std::span<const double> weights);

struct SeparationOptions {
    std::size_t most_cuts = 100;
    double least_violation = 1e-4;
    int most_k = 3;
    std::size_t most_steps = 200'000;  // of the exhaustive search
};

// Violated clusters grown from pairs of variables that lean on each other; may find none though some are violated.
std::vector<Cluster> grow_clusters(const Support& support, const SeparationOptions& options);

struct SearchedClusters {
    std::vector<Cluster> found;
    bool complete;  // every set was looked at or ruled out
};

// Violated clusters by branch and bound over sets; when complete and none is found, no 1-cluster is violated. Those of
// larger k are looked for inside circles only.
SearchedClusters search_clusters(const Support& support, int k, const SeparationOptions& options, Limits& limits);

// How much the families that count for a cluster weigh.
double cluster_weight(const Cluster& cluster, const Support& support);

struct ReducedCosts {
    double bound;                // no network of these families costs less
    std::vector<double> excess;  // no network with the family costs less than bound + excess
};

// The Lagrangean bound of any multipliers >= 0: sum of k times the multipliers, plus for each variable its cheapest
// family after every cluster has paid its multiplier to the families that count for it. Exact when costs and
// multipliers lie on one grid and their sums fit; valid whatever made the multipliers.
ReducedCosts reduced_costs(const FamilyView& families, std::span<const double> costs, std::span<const Cluster> clusters,
                           std::span<const double> multipliers);

struct Rows {
    std::vector<std::int32_t> starts;
    std::vector<std::int32_t> families;
};

// Which families count for each cluster, one cluster after the other; a number from families.parents.size() on stands
// for a further family without parents of each variable.
Rows cluster_rows(const FamilyView& families, std::span<const Cluster> clusters);

// Forbids families that no network can use beside those all families of other variables force: a parent that must
// come later. False when no network is left.
bool propagate_orders(const FamilyView& families, std::span<std::uint8_t> allowed);

}  // namespace topdag
