// tree_search.h: best-first search over partial networks whose weight is known only as a whole.
//
// The value of a network is its score plus the log weight that a prior gives it. A* over partial networks [Chen, Choi &
// Darwiche 2015], on the tree in which every network has one path, its canonical one (listing.h), so that no list of
// networks already met is needed. A partial network is weighed when it is first taken from the queue; until then, what
// the one before it can come to at most stands for it. Its successors are made `block` at a time, best first.
//
// Ties: of complete networks with the same value, the one with the lower masks, compared variable by variable, comes
// first. Whatever is not complete counts for `slack` more than it can come to, more than rounding can hide, so that a
// network comes out only when all that could tie with it are there to be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/set_map.h"
#include "base/var_set.h"
#include "partial_networks/leaf_steps.h"
#include "partial_networks/packed_families.h"
#include "partial_networks/searched_networks.h"

namespace topdag {

// A network on some of the variables: every parent of a placed one is placed.
struct PartialNetwork {
    VarSet placed = 0;
    std::vector<VarSet> parents;  // by variable; empty sets for those not placed
    std::vector<VarSet> above;    // by variable: all that have a path to it
};

// A prior, and how it bounds what is to come.
class NetworkPrior : public LeafBound {
public:
    // Minus infinity forbids the network and all that begin with it.
    virtual double log_weight(const PartialNetwork& network) = 0;
    // No network that begins with one on these has a log weight that is more than this above its own.
    virtual double log_weight_bound(VarSet placed) = 0;
    // No network that begins with one on these has a value that is more than this above its own.
    virtual double rest(VarSet placed) = 0;
    // Whether a best network may get this family now, the ancestors being all that the leaf will have.
    virtual bool may_be_best(int, double /*local*/, VarSet /*ancestors*/) { return true; }
};

class TreeSearch {
public:
    // `order`: the reference order; `slack`: more than rounding errors of values; `memory`: bytes it may take.
    TreeSearch(const PackedFamilies& families, NetworkPrior& prior, const std::vector<int>& order, std::size_t block,
               double slack, std::size_t memory);

    // Moves to the next best network; false when none is left or a limit was reached. Throws a BrokenBound.
    bool next(Limits& limits);
    // Moves to the best complete network in the queue that was not given yet, proved or not; false when none is left.
    bool next_complete();

    // No network still to come has a larger value.
    double bound() const;
    bool memory_hit() const { return memory_hit_; }

    std::vector<VarSet> parents;  // by variable, of the network found
    double value = 0.0;
    double score = 0.0;
    SearchCounts counts;

private:
    using Id = std::uint32_t;
    struct Node {
        double score;
        double log_weight;  // of the one before until it is weighed
        Id before;
        PackedFamily family;
        std::uint32_t next_step : 30;
        std::uint32_t is_weighed : 1;
        std::uint32_t is_expanded : 1;
    };
    struct Entry {
        double most;
        Id node;
        std::uint32_t n_placed;
    };
    // A partial network as read from its path.
    struct Built {
        PartialNetwork network;
        std::vector<VarSet> blockers;  // by variable still to come; empty: none needed
    };

    bool is_later(const Entry& a, const Entry& b) const;
    void push(const Entry& entry);
    Entry pop();
    bool takes_too_much() const;
    const PartialNetwork& built(Id id);
    void find_blockers();
    VarSet ancestors_of(PackedFamily family) const;
    bool may_add(const LeafStep& step) const;
    const LeafStep* next_step_of(Id id, LeafSteps::List& steps);
    void weigh(const Entry& entry);
    void expand(const Entry& entry);
    void add(Id id, const LeafStep& step, const Entry& entry);
    void check_bounds(Id id, double log_weight);
    std::vector<VarSet> parents_of(Id id) const;
    void give(const Entry& entry);

    int n_;
    const PackedFamilies& families_;
    NetworkPrior& prior_;
    LeafSteps steps_;
    std::vector<int> order_;
    std::vector<int> place_;  // by variable, in the reference order
    std::size_t block_;
    double slack_;
    std::size_t memory_;
    bool memory_hit_ = false;
    Blocks<Node> nodes_;
    std::vector<Entry> queue_;  // a heap
    Built built_;
    std::vector<int> path_;  // the variables of built_ as they were placed
};

}  // namespace topdag
