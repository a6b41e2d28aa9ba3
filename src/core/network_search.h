// network_search.h: best-first search over partial networks, the BN graph of Chen, Choi & Darwiche 2015.
//
// A node is a network on some of the variables; an edge adds one more variable as a leaf. A* with a perfect oracle,
// the most that the variables not yet placed can add, meets complete networks best first. A network is reached along
// as many paths as it has orders, so those already met are remembered. Nodes are expanded in part: only the next
// `block` best successors enter the queue, and the node goes back into it with the value of the one after.
// Oracle: admissible, consistent, zero when all is placed.
#pragma once

#include <cstdint>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lattice.h"
#include "listing.h"
#include "run_limits.h"

namespace topdag {

struct SearchCounts {
    std::uint64_t generated = 0;     // nodes put into the queue for the first time
    std::uint64_t expanded = 0;      // nodes whose first successors were made, and networks found
    std::uint64_t re_expanded = 0;   // further blocks of successors
    std::uint64_t oracle_calls = 0;  // sets the oracle was asked about that it did not know yet
};

// What the rest can add, kept by set. A call also tells the values along the best completion, which are kept too.
class LatticeOracle {
public:
    explicit LatticeOracle(const Lattice& lattice) : lattice_(lattice) {}
    double value(VarSet placed);
    std::uint64_t calls() const { return calls_; }

private:
    void prime(VarSet placed);

    const Lattice& lattice_;
    std::unordered_map<VarSet, double> known_;
    std::uint64_t calls_ = 0;
};

class NetworkSearch {
public:
    // Families by falling local score; the search is over networks of these.
    NetworkSearch(const Lattice& lattice, const FamilyTable& families, std::size_t block);

    // Moves to the next best network; false when there is none or a limit was reached (limits.stop is then set).
    bool next(Limits& limits);

    // No network still to come scores more than this.
    double bound() const;

    std::vector<std::uint32_t> parents;  // by variable, of the network found
    double score = 0.0;
    SearchCounts counts() const;

private:
    struct Node {
        VarSet placed;
        double score;
        std::vector<std::uint32_t> parents;
        std::size_t next_step = 0;
    };
    struct Entry {
        double most;  // score + oracle, or that of the next successor
        int size;
        std::uint32_t node;
        // Larger first; among equals the one with more variables, then the older.
        bool operator<(const Entry& other) const {
            if (most != other.most) return most < other.most;
            return size != other.size ? size < other.size : node > other.node;
        }
    };

    const std::vector<Step>& steps_from(VarSet placed);
    void expand(std::uint32_t index);
    void add(const Node& node, const Step& step);

    const Lattice& lattice_;
    const FamilyTable& families_;
    std::size_t block_;
    LatticeOracle oracle_;
    std::vector<Node> nodes_;
    std::priority_queue<Entry> queue_;
    std::unordered_set<std::string> met_;
    std::unordered_map<VarSet, std::vector<Step>> steps_;
    SearchCounts counts_;
};

}  // namespace topdag
