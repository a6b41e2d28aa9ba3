// sparse_counts.h: sums over the cells of listed sets of variables, where tables over all sets are out of reach.
//
// Listed sets stand in ascending order, so that neighbours share their highest variables: the rows are kept grouped by
// the cells of the shared part, and only the lowest variable is counted anew. Cells of one distinct row are put aside.
#pragma once

#include <cstdint>
#include <functional>
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

// The function whose sum is how many cells of a set occur.
constexpr FixedFunction count_of_cells{CellKind::one, 0.0, false, 0};

// Who does the same for narrow sets where that is not this process, and from how much work on: sets times rows.
struct CountedElsewhere {
    std::function<bool(const FixedFunction&, const std::vector<VarSet>&, Limits&, std::vector<std::int64_t>&)> sums;
    double least_work = 0.0;

    bool takes(std::size_t sets, std::size_t rows) const {
        return sums && static_cast<double>(sets) * static_cast<double>(rows) >= least_work;
    }
};

}  // namespace topdag
