// clusters.h: cuts on families that every network meets, found where a fractional solution breaks them.
//
// In any order the first k members of a set C have fewer than k parents inside C. So of the families a network uses, at
// least k belong to a member of C and have fewer than k parents in C [Jaakkola et al. 2010; Cussens 2011].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"

namespace topdag {

// At least k of a network's families belong to a member and have fewer than k parents among the members.
template <class Set>
struct ClusterOf {
    Set members;
    int k;

    bool operator==(const ClusterOf&) const = default;
    bool counts(int v, Set parents) const { return has(members, v) && size_of(parents & members) < k; }
};

// Families of v stand from offsets[v] to offsets[v + 1].
template <class Set>
struct FamilyViewOf {
    std::span<const std::int64_t> offsets;
    std::span<const Set> parents;

    int n_variables() const { return static_cast<int>(offsets.size()) - 1; }
};

template <class Set>
struct WeightedFamilyOf {
    Set parents;
    double weight;
};

// The families of each variable that a solution uses, with weights that add up to one.
template <class Set>
using SupportOf = std::vector<std::vector<WeightedFamilyOf<Set>>>;

template <class Set>
SupportOf<Set> support_of(const FamilyViewOf<Set>& families, std::span<const double> weights);

// Sets of variables that lean on each other in circles, as far as the support goes. A violated 1-cluster has a violated
// part inside one of them: the part of its members that lean on no other member outside that part.
template <class Set>
std::vector<Set> circles_of(const SupportOf<Set>& support);

struct SeparationOptions {
    std::size_t most_cuts = 100;
    double least_violation = 1e-4;
    int most_k = 3;
    std::size_t most_steps = 200'000;  // of the exhaustive search
};

// Violated clusters grown from pairs of variables that lean on each other; may find none though some are violated.
template <class Set>
std::vector<ClusterOf<Set>> grow_clusters(const SupportOf<Set>& support, const SeparationOptions& options);

template <class Set>
struct SearchedClustersOf {
    std::vector<ClusterOf<Set>> found;
    bool complete;  // every set was looked at or ruled out
};

// Violated clusters by branch and bound over sets; when complete and none is found, no 1-cluster is violated. Those of
// larger k are looked for inside circles only.
template <class Set>
SearchedClustersOf<Set> search_clusters(const SupportOf<Set>& support, int k, const SeparationOptions& options, Limits& limits);

// How much the families that count for a cluster weigh.
template <class Set>
double cluster_weight(const ClusterOf<Set>& cluster, const SupportOf<Set>& support);

// Forbids families that no network can use beside those all families of other variables force: a parent that must
// come later. False when no network is left.
template <class Set>
bool propagate_orders(const FamilyViewOf<Set>& families, std::span<std::uint8_t> allowed);

using Cluster = ClusterOf<VarSet>;
using FamilyView = FamilyViewOf<VarSet>;
using WeightedFamily = WeightedFamilyOf<VarSet>;
using Support = SupportOf<VarSet>;

}  // namespace topdag
