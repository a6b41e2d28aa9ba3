// reduced_costs.h: what multipliers of cuts leave families to cost, and the bound that gives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuts/clusters.h"

namespace topdag {

struct ReducedCosts {
    double bound;                // no network of these families costs less
    std::vector<double> excess;  // no network with the family costs less than bound + excess
};

// From what families cost once cuts are paid, and what cuts give back to every network. Only allowed families are used.
ReducedCosts above_cheapest(const ListedFamilies& families, std::span<const std::uint8_t> allowed,
                            std::vector<double> paid, long double given_back);

// Adds to what each family costs the multipliers of the clusters that have its variable as a member, and at least k of
// its parents. Of a cluster with m members a network has m - k such families at most: so many multipliers it gets back,
// and what is returned is minus their sum. Holds nothing for each family and cluster; threads share the variables.
long double pay_clusters(const ListedFamilies& families, const std::vector<Cluster>& clusters,
                         std::span<const double> multipliers, std::span<double> costs, int threads);

}  // namespace topdag
