// pruned_scores.h: the families worth keeping of up to 64 variables, without tables over all sets.
//
// Parent sets are walked by size. A set is looked at for a variable only while all its subsets are open for it: not cut
// off by a rule that rules out every superset. Sets are counted once for all families they belong to.
#pragma once

#include <vector>

#include "base/run_limits.h"
#include "base/table.h"
#include "base/var_set.h"
#include "scoring/pruning_question.h"

namespace topdag {

// Exactly the families that families_worth_keeping would keep, had all been scored and rounded to the same grid; with
// k, those with fewer than k better subsets. The same for any number of threads. `stop_when_dense`: gives up where so few
// parent sets are cut off that looking at all of them, as score_layers does, costs less.
PrunedFamilies score_pruned(const Table& table, const PruningQuestion& question, bool stop_when_dense, Limits& limits);

// The same in each of several draws of the table's rows, walked over together: weights of its distinct rows, each draw with
// as many rows as the table. `may_be_drawn` says for which tables and questions. Gives up where score_pruned would in one
// of them, or where the memory that all of them take together is not there.
std::vector<PrunedFamilies> score_drawn(const Table& table, const std::vector<const std::uint32_t*>& draws,
                                        const PruningQuestion& question, Limits& limits);
bool may_be_drawn(const Table& table, const PruningQuestion& question);

// The families that score_pruned keeps, with the same scores, but not for k better subsets, by counting every set of each
// size that may matter (layered_scores.cpp): nothing is stored for single families, so this takes far less memory where
// nearly all parent sets stay open. Sets are left out by size and by the rules `penalty` and `entropy` with the empty set
// as the subset. The same for any number of threads.
//
// `must`: by variable what every parent set holds, at most max_parents, with a penalty that the grid foresees; empty:
// nothing. Then that set stands for the empty one, and only families that hold it are kept and compared.
template <class Set>
PrunedFamilies score_layers(const Table& table, const PruningQuestion& question, const std::vector<Set>& must,
                            Limits& limits);

// The scores of these sets, narrow or wide, on the grid that score_pruned and score_layers use for the same question.
template <class Set>
std::vector<double> grid_scores(const Table& table, const PruningQuestion& question, const SetFormula& formula,
                                const std::vector<Set>& sets, int* grid);

}  // namespace topdag
