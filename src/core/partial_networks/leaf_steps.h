// leaf_steps.h: the ways to add a variable as a leaf to the networks on a set, best first, as many as are asked for.
//
// Which are best does not depend on the network, only on its variables, so they are kept by set.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "base/var_set.h"
#include "partial_networks/packed_families.h"

namespace topdag {

// What adding a leaf can bring at most, beside its local score.
class LeafBound {
public:
    virtual ~LeafBound() = default;
    // To the log weight when a leaf comes after these that has at least so many ancestors; never more with more.
    virtual double growth(VarSet placed, int n_ancestors) = 0;
    // By all that is still to come once these are placed; minus infinity when nothing can.
    virtual double after(VarSet placed) = 0;
};

struct LeafStep {
    double most;  // local score + growth + after
    PackedFamily family;

    static bool is_before(const LeafStep& a, const LeafStep& b) {
        return a.most != b.most ? a.most > b.most : a.family < b.family;
    }
};

class LeafSteps {
public:
    LeafSteps(const PackedFamilies& families, LeafBound& bound) : families_(families), bound_(bound) {}

    // The steps from a set, as far as they were asked for.
    struct List {
        VarSet placed = 0;
        std::vector<LeafStep> steps;
        bool is_whole = false;
    };
    // Stays where it is.
    List& from(VarSet placed);
    // The step at this place, or null when there are not so many. Valid until more of the list is asked for.
    const LeafStep* at(List& list, std::size_t place) {
        while (place >= list.steps.size() && !list.is_whole) lengthen(list);
        return place < list.steps.size() ? &list.steps[place] : nullptr;
    }
    std::size_t bytes() const { return bytes_; }

private:
    static constexpr std::size_t first_length = 32;
    static constexpr std::size_t bytes_a_list = 80;

    void lengthen(List& list);
    void offer_steps_of(int x, VarSet placed, std::size_t most);
    void offer(const LeafStep& step, std::size_t most);

    const PackedFamilies& families_;
    LeafBound& bound_;
    std::unordered_map<VarSet, List> lists_;
    std::vector<LeafStep> best_;  // a heap, the last one on top
    std::size_t bytes_ = 0;
};

}  // namespace topdag
