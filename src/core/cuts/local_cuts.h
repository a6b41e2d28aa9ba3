// local_cuts.h: cuts from the networks of a few variables at a time, found where a fractional solution breaks them.
//
// Seen on few variables, a solution should be a mixture of their networks. Where it is none, an inequality that all
// these networks satisfy tells it apart: a local cut [Applegate, Bixby, Chvatal & Cook 2001, for tours].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuts/clusters.h"

namespace topdag {

// In every network the coefficients of the members' families add up to at least `limit`.
struct LocalCut {
    struct Option {
        int place;              // of its variable among the members
        std::uint32_t parents;  // their places
        int coefficient;        // of families with at least these parents, unless another gives a smaller one

        bool operator==(const Option&) const = default;
    };
    Variables members;
    std::vector<Option> options;
    std::vector<int> otherwise;  // by place: the largest coefficient of its families
    int limit = 0;

    bool operator==(const LocalCut&) const = default;
    // Of a family of the member at a place.
    int coefficient(int place, Parents parents) const;
};

struct LocalCutOptions {
    int most_members;
    std::size_t most_cuts;
    double least_violation;
};

// Cuts that the weights of the support break, one at most for each variable to start from; on as few variables as show it.
std::vector<LocalCut> local_cuts(const Support& support, const LocalCutOptions& options);

}  // namespace topdag
