// counts.h: contingency counts of every set of variables.
//
// All 2^n sets are met by deciding variable after variable whether it is in the set; the cells of a set are kept
// along the way and split when a variable joins (cell_groups.h). Cost grows with the cells that still hold
// more than a few rows, not with the number of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/run_limits.h"
#include "base/table.h"
#include "base/var_set.h"
#include "counting/cell_function.h"
#include "counting/count_plan.h"

namespace topdag {

// Which sets are wanted; the others are not counted.
struct SetLimits {
    int max_size;        // variables, at most
    double max_cells;    // product of arities, at most
};

// Sums f(count) over the non-empty cells of every set, f having `parameter`, or parameter / (cells of the set)
// with `spread`. Writes sums[set] for the wanted sets and minus infinity for the others.
// Returns false when a limit stopped it; then the sums are incomplete. The same for any number of threads.
// `masked`: as in count_plan.h.
bool sum_over_cells(const Table& table, CellKind kind, double parameter, bool spread, const SetLimits& wanted,
                    Limits& limits, double* sums, int masked = mask_bits);

// How many cells hold so many rows.
struct Tally { std::uint64_t rows; std::uint64_t cells; };

// Calls visit(set, tallies) for every wanted set, from several threads at once.
bool tally_all_sets(const Table& table, const SetLimits& wanted, Limits& limits,
                    const std::function<void(VarSet, const std::vector<Tally>&)>& visit);

// Bytes taken while counting, beside the result.
double counting_bytes(const Table& table, bool spread, int threads);

}  // namespace topdag
