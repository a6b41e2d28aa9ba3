// layered_scores.h: the families worth keeping of many variables, by counting every set of each size that may matter.
//
// A layer holds the scores of all sets of one size, by their rank among them; a family's score is the difference of two
// neighbours. Nothing is stored for single families, so this takes far less memory than score_pruned where nearly all
// parent sets stay open: independent-looking variables with few states.
#pragma once

#include <vector>

#include "base/run_limits.h"
#include "base/table.h"
#include "base/var_set.h"
#include "scoring/pruning_question.h"

namespace topdag {

// The families that score_pruned keeps, with the same scores; not for k better subsets. Sets are left out by size and
// by the rules `penalty` and `entropy` with the empty set as the subset. The same for any number of threads.
//
// `must`: by variable what every parent set holds, at most max_parents, with a penalty that the grid foresees; empty:
// nothing. Then that set stands for the empty one, and only families that hold it are kept and compared.
template <class Set>
PrunedFamilies score_layers(const Table& table, const PruningQuestion& question, const std::vector<Set>& must,
                            Limits& limits);

}  // namespace topdag
