// clusters.h: cuts on families that every network satisfies, found where a fractional solution breaks them.
//
// In any order the first k members of a set C have fewer than k parents inside C. So of the families a network uses, at
// least k belong to a member of C and have fewer than k parents in C [Jaakkola et al. 2010; Cussens 2011].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuts/listed_families.h"

namespace topdag {

// At least k of a network's families belong to a member and have fewer than k parents among the members.
struct Cluster {
    Variables members;
    int k;

    bool operator==(const Cluster&) const = default;
};

struct WeightedFamily {
    Parents parents;
    double weight;
};

// The families of each variable that a solution uses, with weights that add up to one. It looks into the families.
using Support = std::vector<std::vector<WeightedFamily>>;

Support support_of(const ListedFamilies& families, std::span<const double> weights);

// Sets of variables that lean on each other in circles, as far as the support goes. A violated 1-cluster has a violated
// part inside one of them: the part of its members that lean on no other member outside that part.
std::vector<Variables> circles_of(const Support& support);

struct SeparationOptions {
    std::size_t most_cuts;
    double least_violation;
    int most_k;
    std::size_t most_steps;  // of the exhaustive search
};

// Violated clusters grown from pairs of variables that lean on each other; may find none though some are violated.
// Threads share the pairs; what is found does not depend on how many there are.
std::vector<Cluster> grow_clusters(const Support& support, const SeparationOptions& options, int threads);

// Violated clusters by branch and bound over sets inside circles, within so many steps.
std::vector<Cluster> search_clusters(const Support& support, int k, const SeparationOptions& options);

// Forbids families that no network can use beside those all families of other variables force: a parent that must
// come later. False when no network is left.
bool propagate_orders(const ListedFamilies& families, std::span<std::uint8_t> allowed);

}  // namespace topdag
