// cluster_ascent.h: multipliers of clusters that give a good bound, without a linear program: for lists so long that one
// takes minutes.
//
// The bound is the sum over variables of their cheapest family, after each cluster was paid, less what clusters give
// back. With the cheapest replaced by a soft minimum at some temperature it is smooth, and the best multiplier of one
// cluster, all others as they are, takes one equation in one unknown. Cluster after cluster, again and again, that
// climbs to the best multipliers of all; the soft minima are weights of families, from which further clusters are found
// [Jaakkola et al. 2010; Meshi, Jaakkola & Globerson 2012].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuts/clusters.h"

namespace topdag {

struct AscentOptions {
    double temperature;  // what families cost more than the cheapest counts in units of this
    int sweeps;          // over all clusters
    int threads;         // which share what comes before the sweeps
};

struct Ascended {
    std::vector<double> multipliers;
    std::vector<double> weights;  // by family; those of a variable add up to one
};

// From multipliers under which families cost so much more than the cheapest of their variable. Only families that are
// looked at count and get weights: of long lists those that may soon be the cheapest.
Ascended ascend(const ListedFamilies& families, const std::vector<Cluster>& clusters, std::span<const double> excess,
                std::span<const std::uint8_t> looked_at, std::span<const double> multipliers,
                const AscentOptions& options);

}  // namespace topdag
