// pruned_scores.h: the families worth keeping of up to 64 variables, without tables over all sets.
//
// Parent sets are walked by size. A set is looked at for a variable only while all its subsets are open for it: not cut
// off by a rule that rules out every superset. Sets are counted once for all families they belong to.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "run_limits.h"
#include "set_scores.h"
#include "table.h"
#include "var_set.h"

namespace topdag {

// What cuts a parent set and all its supersets off.
enum class CutRule : int { max_parents, penalty, entropy, few_cells };
constexpr int n_cut_rules = 4;

struct PruningQuestion {
    SetFormula joint;
    std::vector<SetFormula> below;  // the functions of the parents; empty: joint itself
    std::vector<int> below_of;      // by variable: which of them
    int max_parents;
    double epsilon;       // as for families_worth_keeping
    std::uint64_t k;      // not 0: a family goes only when k proper subsets score strictly more; epsilon is not used
    std::uint32_t rules;  // bit r: CutRule r may be used
    double memory;        // bytes that may be taken
};

struct PrunedFamilies {
    bool finished = false;       // no limit stopped it
    double memory_needed = 0.0;  // not 0: more than allowed would have been needed
    std::vector<std::int64_t> offsets;
    std::vector<VarSet> parents;
    std::vector<double> scores;  // multiples of 2^-grid
    int grid = 0;
    int limit = 0;  // parents of the largest family scored
    std::uint64_t n_scored = 0;
    std::uint64_t n_sets = 0;
    std::array<std::uint64_t, n_cut_rules> n_cut{};
};

// Exactly the families that families_worth_keeping would keep, had all been scored and rounded to the same grid; with
// k, those with fewer than k better subsets. Does not depend on `threads`.
PrunedFamilies score_pruned(const Table& table, const PruningQuestion& question, int threads, Limits& limits);

// The scores of these sets on the grid that score_pruned uses for the same question; sets ascending.
std::vector<double> grid_scores(const Table& table, const PruningQuestion& question, const SetFormula& formula,
                                const std::vector<VarSet>& sets, int* grid);

}  // namespace topdag
