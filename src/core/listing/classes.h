// classes.h: Markov equivalence classes of networks of up to 64 variables: their edges, size and members.
#pragma once

#include <vector>

#include "base/big_count.h"
#include "base/var_set.h"

namespace topdag {

// A partly directed graph: a -> b when bit a is in parents[b], a - b when each is in the other's neighbours.
struct MixedGraph {
    std::vector<VarSet> parents;
    std::vector<VarSet> neighbours;

    int n_variables() const { return static_cast<int>(parents.size()); }
    VarSet adjacent(int v) const;  // by any edge
};

// The class of an acyclic network: an edge is directed where all members agree on it.
MixedGraph class_of(const std::vector<VarSet>& parents);

// How many networks a class has, by Clique-Picking [Wienobst, Bannach & Liskiewicz 2023]; in polynomial time. No
// class of n variables has more than n! networks.
BigCount class_size(const MixedGraph& graph);

// The members of a class one by one, each once. Every step directs one more edge both ways and follows what that
// implies (Meek's rules), so no step leads to nothing and the delay is polynomial.
class Members {
public:
    explicit Members(MixedGraph graph);
    // Moves to the next member; false when there is none. Then `parents` describes it.
    bool next();
    std::vector<VarSet> parents;

private:
    std::vector<MixedGraph> waiting_;
};

}  // namespace topdag
