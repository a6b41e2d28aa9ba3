// grid_scores.h: the scores of a few sets, to compare with what scoring with pruning found.
#pragma once

#include <vector>

#include "base/table.h"
#include "base/var_set.h"
#include "scoring/pruning_question.h"

namespace topdag {

// The scores of these sets, narrow or wide, on the grid that score_pruned and score_layers use for the same question.
template <class Set>
std::vector<double> grid_scores(const Table& table, const PruningQuestion& question, const SetFormula& formula,
                                const std::vector<Set>& sets, int* grid);

}  // namespace topdag
