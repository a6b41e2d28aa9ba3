// network_search.h: best-first search over partial networks, the BN graph of Chen, Choi & Darwiche 2015.
//
// A node is a network on some of the variables; an edge adds one more variable as a leaf. A* with a perfect oracle,
// the most that the variables not yet placed can add, meets complete networks best first. A network is reached along
// as many paths as it has orders, so those already met are remembered. Nodes are expanded in part: only the next
// `block` best successors enter the queue, and the node goes back into it with the value of the one after.
// Oracle: admissible, consistent, zero when all is placed. Ties come in the order of listing.h: among entries of the
// same value the one whose canonical path stands first is taken, a path before those that continue it. Every step on
// the way to a network is worth at least as much as the network and stands before it, so no other overtakes it.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/run_limits.h"
#include "listing/listing.h"
#include "partial_networks/completion_oracle.h"
#include "partial_networks/searched_networks.h"

namespace topdag {

class NetworkSearch {
public:
    // The search is over networks of these families, and the oracle one for them. `order`: the reference order.
    NetworkSearch(const FamilyTable& families, CompletionOracle& oracle, std::vector<int> order, std::size_t block);
    NetworkSearch(const NetworkSearch&) = delete;  // its queue knows where it is

    // Moves to the next best network; false when none scores at least `lowest` or a limit was reached (limits.stop is
    // then set).
    bool next(double lowest, Limits& limits);

    // No network still to come scores more than this.
    double bound() const;

    std::vector<VarSet> parents;  // by variable, of the network found
    double score = 0.0;
    SearchCounts counts() const;

private:
    struct Node {
        VarSet placed;
        double score;
        std::vector<VarSet> parents;
        std::size_t next_step = 0;  // the first one that was not made yet
    };
    struct Entry {
        double most;  // score + oracle, or that of the next successor
        std::uint32_t node;
    };
    struct IsLater {
        NetworkSearch* search;
        bool operator()(const Entry& a, const Entry& b) const {
            return a.most != b.most ? a.most < b.most : search->path_is_before(b.node, a.node);
        }
    };
    // The canonical path of a node, one step at a time, with the first successor not yet made at its end, if some are.
    struct Path {
        const Node& node;
        VarSet placed = 0;
        bool ended = false;
    };

    bool path_is_before(std::uint32_t a, std::uint32_t b);
    std::optional<Step> next_of(Path& path);
    const std::vector<Step>& steps_from(VarSet placed);
    void expand(std::uint32_t index);
    void add(const Node& node, const Step& step);

    int n_;
    const FamilyTable& families_;
    std::vector<std::unordered_map<VarSet, double>> local_;  // by variable: score by parents
    CompletionOracle& oracle_;
    std::vector<int> order_;
    std::size_t block_;
    std::vector<Node> nodes_;
    std::priority_queue<Entry, std::vector<Entry>, IsLater> queue_;
    std::unordered_set<std::string> met_;
    std::unordered_map<VarSet, std::vector<Step>> steps_;
    SearchCounts counts_;
};

// The best networks, at most so many, with all families that these may have.
SearchedNetworks search_networks(const Lattice& lattice, std::size_t most, std::size_t block, Limits& limits);

struct ListedQuestion {
    std::size_t most;
    double epsilon;      // none is further behind the best
    std::size_t block;
    std::size_t memory;  // bytes for the oracle
};

// The same from listed families, with an oracle that searches over orders.
SearchedNetworks search_listed(const Candidates& candidates, const Bound& bound, const ListedQuestion& question,
                               Limits& limits);

}  // namespace topdag
