// found_networks.h: networks that a search found, and what is known of all others.
#pragma once

#include <vector>

#include "base/infinity.h"
#include "base/var_set.h"

namespace topdag {

struct FoundNetworks {
    int n_variables;
    bool finished = false;                                   // all that was asked for was found
    bool memory_hit = false;                                 // when not: for lack of memory
    double floor = infinity;  // everything that scores above is among them
    std::vector<double> scores;
    std::vector<VarSet> parents;  // n masks each: of a network, or of one member of a class

    explicit FoundNetworks(int n) : n_variables(n) {}

    void add(double score, const std::vector<VarSet>& network) {
        scores.push_back(score);
        parents.insert(parents.end(), network.begin(), network.end());
    }
};

}  // namespace topdag
