// block_lattice.h: the lattice of lattice.h for more variables: F and H are stored, best(x, .) is not.
//
// Sets fall into blocks: those of one block have the same variables above the first `block_bits`. Blocks are taken in
// layers, by how many variables that is. For each block, best(x, .) is made anew in a core's own cache, from the few
// parent sets that no proper subset of theirs reaches (undominated_sets.h). Those are found on the way: when F of a
// block is made, all smaller blocks have given theirs.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "base/big_array.h"
#include "base/infinity.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "families/local_scores.h"
#include "lattice/reading_back.h"
#include "lattice/undominated_sets.h"

namespace topdag {

class BlockLattice {
public:
    static constexpr int most_variables = 40;  // 2^40 numbers take 9 TB

    // The scores must outlive the lattice.
    explicit BlockLattice(const LocalScores& scores) : BlockLattice(scores, block_bits_for(scores.n_variables())) {}
    // narrow_bits: as in undominated_sets.h.
    BlockLattice(const LocalScores& scores, int block_bits, int narrow_bits = 32);

    // What is made of a block should stay in a core's own cache: 1.2 MB for 2^14 sets, 2.6 MB for 2^15. For each
    // block all parts of its top are looked up, 3^15 in all for each variable when there are 2^15 blocks.
    static constexpr int block_bits_for(int n) { return std::clamp(n - 15, 14, 15); }

    // Fills F and finds the undominated parent sets; false when a limit stopped it.
    bool order(Limits& limits);
    // Fills H; false when a limit stopped it. Needs F.
    bool order_backward(Limits& limits);
    // Needs F.
    BestNetwork read_back(double slack) const { return best_network_of(*this, slack); }
    VarSet fewest_parents(int x, VarSet available, double slack) const {
        return fewest_parents_of(*this, x, available, slack);
    }

    int n_variables() const { return n_; }
    // Whatever scores less is not known of: here all is.
    double lowest() const { return minus_infinity; }
    const LocalScores& scores() const { return scores_; }
    VarSet before(int x) const { return scores_.precedence().before(x); }
    // The variable that comes last in the best order of these, ties broken as ever. Needs F.
    int last_variable(VarSet placed) const { return last_variable_of(*this, placed); }
    // A look through a list, not into a table; also of sets that x cannot follow. Needs F.
    double best(int x, VarSet within) const { return parents_[x].best(without_bit(within, x)); }
    double best_alone(int x) const { return parents_[x].best(n_sets(n_ - 1) - 1); }
    double forward(VarSet placed) const { return forward_[placed]; }
    double backward(VarSet placed) const { return backward_[placed]; }
    // Needs F.
    const UndominatedSets& parents_of(int x) const { return parents_[x]; }
    // The best network in which the variables of some Y come first, then x: the most over all Y of one block of x's
    // slots. Needs H.
    double reach(int x, VarSet top) const { return reach_[x][top]; }
    // out[low] = F(Y) + H(Y + x) for the sets Y of one block of x's slots. Needs H.
    void fill_around(int x, VarSet top, double* out) const;

    // How many families memory has room for when they are read from the lattice; more are TooManyFamilies.
    std::size_t room_for_families() const { return room_for_families_; }
    void set_room_for_families(std::size_t room) { room_for_families_ = room; }

    // Bytes of F, or of F and H, beside the undominated sets.
    static double bytes(int n, bool with_backward, int threads);

private:
    // One thread's tables over a block.
    struct Workspace {
        BigArray local;
        BigArray table;
        std::vector<BigArray> low_best;  // by variable of the block
    };

    template <class FillBlock>
    bool fill_in_layers(bool from_empty, Limits& limits, FillBlock&& fill_block);
    void order_block(VarSet block, Workspace& work);
    void order_block_backward(VarSet block, Workspace& work);
    double reach_of(int x, VarSet base, const double* best, double* scratch) const;
    void strike_out(int x, VarSet before, double* table) const;
    void settle(int x, VarSet before, Workspace& work, double* table);
    VarSet top_of(int x, VarSet set) const { return without_bit(set, x) >> parents_[x].low_bits(); }
    Workspace workspace() const;

    std::size_t room_for_families_ = std::numeric_limits<std::size_t>::max();
    int n_;
    int low_;  // variables of a block
    const LocalScores& scores_;
    std::vector<UndominatedSets> parents_;    // by variable
    std::vector<std::vector<double>> reach_;  // by variable and top
    BigArray forward_;
    BigArray backward_;
};

}  // namespace topdag
