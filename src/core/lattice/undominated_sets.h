// undominated_sets.h: per variable the parent sets that score more than every proper subset of theirs. best(x, Y) is
// the best of those inside Y.
//
// They are kept in two forms: by block, for tables over the sets of one block, and by falling score, for one set.
// Sets are slots (local_scores.h); the low bits of a slot say where it stands in its block, the others, its *top*,
// which block that is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/var_set.h"

namespace topdag {

class UndominatedSets {
public:
    // Sets are looked through by the lowest `narrow_bits` of their slots; 32 unless tests want to see more than one part.
    UndominatedSets(int n, int low_bits, int narrow_bits = 32);

    int low_bits() const { return low_bits_; }
    std::size_t n_tops() const { return by_top_.size(); }

    // table[low] becomes the best score among the sets kept so far that stand at `low` in the block of this top or of a
    // part of it.
    void scatter(VarSet top, double* table) const;
    // Takes in those of a block. `local` has the scores of its sets, and is spoilt; `table` has what scatter gave, and
    // becomes the best score over all subsets, for each set of the block. All parts of the top must be in.
    void settle(VarSet top, double* local, double* table);
    // The best score over all subsets, for each set of the block. All parts of the top and the top itself must be in.
    void fill(VarSet top, double* table) const;

    // The largest local score in a block that is in.
    double largest_local(VarSet top) const { return largest_local_[top]; }

    // All blocks are in: sorts by score.
    void finish();
    std::size_t size() const { return slots_.size() - 1; }
    // The best score inside this set; minus infinity when nothing is allowed.
    double best(VarSet slot) const;

private:
    struct Entry {
        double score;
        std::uint32_t low;
    };
    bool is_dominated(const double* table, std::size_t low) const;

    int low_bits_;
    int narrow_bits_;
    std::vector<std::vector<Entry>> by_top_;
    std::vector<double> largest_local_;  // by top
    // By falling score; at the end the empty set with minus infinity, so that a look-up always finds one.
    std::vector<std::uint32_t> slots_;  // without the bits above
    std::vector<std::uint32_t> above_;  // these; empty where no slot has any
    std::vector<double> scores_;
};

}  // namespace topdag
