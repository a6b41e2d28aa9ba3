// path_counting.h: Algorithm 1 of Chen, Choi & Darwiche 2015, the best network under the uniform prior over orders.
//
// A* over partial networks. One on i variables is reached along as many paths as it has orders, so its count of orders
// is the sum of the counts of those that it was made from. Its place in the queue is
//   score + ln count + H(its variables) + ln (i + 1) + ... + ln n,
// and rises as more of its makers are expanded. All of them are before it is taken itself [their Lemma 1], so its count
// is then whole [Theorem 3].
//
// Successors are made `block` at a time, best first. For Lemma 1 to hold, a network that has more of them must wait in
// the queue not at what its next one gets from it alone, but at what that one may have in all: at most i + 1 times its
// own count. That is its own place, less what the step costs. So whoever can still add to a count stands before it:
// with L makers' counts added so far to a network on i + 1 variables and c > 0 still to come from one on i,
// L < L + c <= (i + 1) c; and if that one is itself still to be made by a step from one with count b, L < i (i + 1) b.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/run_limits.h"
#include "base/set_map.h"
#include "base/var_set.h"
#include "lattice/lattice.h"
#include "partial_networks/leaf_steps.h"
#include "partial_networks/packed_families.h"
#include "partial_networks/searched_networks.h"

namespace topdag {

// The lattice's H is what is to come; places of a step in orders are counted when a network is put into the queue.
class PerfectOracle final : public LeafBound {
public:
    explicit PerfectOracle(const Lattice& lattice) : lattice_(lattice) {}
    double growth(VarSet, int) override { return 0.0; }
    double after(VarSet placed) override { return lattice_.backward(placed); }

private:
    const Lattice& lattice_;
};

// Networks as parents packed into words, n - 1 bits for each variable.
class PackedNetworks {
public:
    explicit PackedNetworks(int n) : n_(n), n_words_((static_cast<std::size_t>(n) * (n - 1) + 64) / 64) {}

    using Words = std::vector<std::uint64_t>;
    Words none() const { return Words(n_words_, 0); }
    VarSet parents(const std::uint64_t* words, int x) const;
    // For a variable that has none yet.
    void put(Words& words, int x, VarSet parents) const;

    const std::uint64_t* at(std::size_t i) const { return &blocks_[i >> bits][(i & mask) * n_words_]; }
    void push_back(const Words& words);
    std::size_t n_words() const { return n_words_; }
    std::size_t bytes() const { return blocks_.size() * (mask + 1) * n_words_ * sizeof(std::uint64_t); }

private:
    static constexpr int bits = 12;
    static constexpr std::size_t mask = (std::size_t{1} << bits) - 1;
    int n_;
    std::size_t n_words_;
    std::size_t size_ = 0;
    std::vector<std::unique_ptr<std::uint64_t[]>> blocks_;
};

// Count: a whole number that holds n!.
template <class Count>
class PathCounting {
public:
    // `slack`: complete networks come after all that may tie with them; see tree_search.h.
    PathCounting(const PackedFamilies& families, const Lattice& lattice, std::size_t block, double slack,
                 std::size_t memory);

    enum class Taken { partial, complete, none };

    // Takes the first of the queue, and expands it if it is not complete. The rest of this class describes it then.
    Taken take();
    bool takes_too_much() const;
    // Moves to the best complete network in the queue, proved or not; false when none is left.
    bool next_complete();
    // No network still to come has a larger value.
    double bound() const;

    VarSet placed = 0;
    bool is_first_time = false;   // else it was expanded before
    std::vector<VarSet> parents;  // by variable
    Count count = 0;
    double value = 0.0;  // score and log weight, when complete; else its place in the queue
    double score = 0.0;
    SearchCounts counts;

private:
    using Id = std::uint32_t;
    struct Node {
        double score;
        double most;
        Count count;
        std::uint32_t placed;
        std::uint32_t next_step;
        std::uint32_t place;  // in the queue; `outside` when not in it
    };
    static constexpr std::uint32_t outside = 0xffffffff;

    bool is_earlier(Id a, Id b) const;
    bool is_complete(Id id) const { return nodes_[id].placed == all_of(n_); }
    void settle(Id id, std::uint32_t place);
    void rise(Id id);
    void sink(Id id);
    void remove_first();
    void expand(Id id);
    void make(Id from, const LeafStep& step);
    double place_value(const Node& node, double log_count) const;
    void describe(Id id);

    std::uint64_t hash_of(VarSet placed, const std::uint64_t* words) const;
    Id& table_place(VarSet placed, const std::uint64_t* words);
    void grow_table();

    int n_;
    const PackedFamilies& families_;
    const Lattice& lattice_;
    PerfectOracle oracle_;
    LeafSteps steps_;
    std::size_t block_;
    double slack_;
    std::size_t memory_;
    std::vector<double> log_rest_;  // by number placed: ln (i + 1) + ... + ln n
    Blocks<Node> nodes_;
    PackedNetworks networks_;
    std::vector<Id> table_;  // by hash; `outside` where free
    std::vector<Id> queue_;  // a heap
    PackedNetworks::Words made_;
};

}  // namespace topdag
