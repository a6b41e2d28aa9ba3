// cluster_bound.h: a bound from clusters of variables, as strong as the linear relaxation whose multipliers it takes.
//
// In any order the first k members of a cluster C have fewer than k parents inside C. With a multiplier for each
// (C, k), and those clusters called open of which fewer than k members are placed,
//
//   h(Y) = sum over open (C, k) of multiplier * (k - members in Y)
//        + sum over v outside Y of min over U of [cost(v, U) - sum of the multipliers of those open (C, k)
//                                                that hold v and of which U has fewer than k members].
//
// At the empty set this is the value of the relaxation's dual at these multipliers; any that are not negative are safe.
#pragma once

#include <cstdint>
#include <vector>

#include "families/candidates.h"
#include "orders/bounds.h"

namespace topdag {

struct WeightedCluster {
    VarSet members;
    int k;              // 1 to the number of members
    double multiplier;  // not negative
};

// Admissible: yes. Consistent: yes. With U inside Y and v next, v's share counts every open cluster of v against
// cost(v, U), which is what the first sum loses by placing v; closing clusters only raises the shares of the others.
class ClusterBound : public Bound {
public:
    // Multipliers are rounded down to a grid on which all sums are exact; clusters left with zero are dropped.
    ClusterBound(const Candidates& candidates, std::vector<WeightedCluster> clusters);

    double at(VarSet placed) const override;
    void after_each(VarSet placed, VarSet wanted, double* after, const double* enough) const override;
    std::size_t size() const override { return clusters_.size(); }

private:
    using Word = std::uint64_t;

    // A family as the bound sees it. One that costs no less than another and misses no more clusters is not needed.
    struct Family {
        double value;  // its cost, or its cost with all clusters open
        std::size_t missed;  // where its words stand in Share::missed
    };
    // A cluster of v that is closed only by more than one of its members.
    struct LateCluster {
        VarSet members;
        int k;
        int bit;
    };
    // What one variable needs to find its share. Bits number the clusters that hold it.
    struct Share {
        std::size_t words = 0;
        std::size_t begin = 0;               // of its words among those of all variables
        std::vector<double> multipliers;     // by bit
        double total = 0.0;                  // of them
        VarSet neighbours = 0;               // other members of its clusters
        std::vector<Word> closed_by;         // by variable: the clusters it closes alone
        std::vector<LateCluster> late;
        std::vector<Word> missed;            // by family
        std::vector<Family> by_cost;
        std::vector<Family> by_reduced_cost;
    };

    void fill_share(int v, const Candidates& candidates);
    void close(const Share& share, VarSet placed, Word* closed) const;
    bool close_more(const Share& share, VarSet placed, int x, const Word* closed, Word* more) const;
    double open_multipliers(const Share& share, const Word* closed) const;
    double least(const Share& share, const Word* closed) const;
    double open_clusters(VarSet placed) const;

    int n_;
    std::vector<WeightedCluster> clusters_;  // those closed by any member first
    std::size_t n_early_ = 0;                // how many these are
    std::vector<Share> shares_;
    std::size_t words_ = 0;       // of all variables together
    std::size_t most_words_ = 1;  // of one
};

}  // namespace topdag
