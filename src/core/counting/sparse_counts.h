// sparse_counts.h: sums over the cells of listed sets of variables, where tables over all sets are out of reach.
//
// Listed sets stand in ascending order, so that neighbours share their highest variables: the rows are kept grouped by
// the cells of the shared part, and only the lowest variable is counted anew. Cells of one distinct row are put aside.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"
#include "counting/cell_counters.h"
#include "counting/counting_rows.h"

namespace topdag {

// Writes for each set, ascending, the sum of the function over its cells, in units of 2^-bits.
// False when a limit stopped it. The same for any number of threads. Adds the sets done to limits.done.
// For narrow and for wide sets.
template <class Set>
bool sum_over_listed(const CountingRows& rows, const FixedFunction& function, const std::vector<Set>& sets,
                     Limits& limits, std::vector<std::int64_t>& sums);

// How many cells of each set occur.
bool count_occurring(const CountingRows& rows, const std::vector<VarSet>& sets, Limits& limits,
                     std::vector<std::int64_t>& cells);

}  // namespace topdag
