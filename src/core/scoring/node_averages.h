// node_averages.h: the average log likelihood of a variable given parents, over the rows in which all of them are known.
//
// Rows differ from family to family, so this is no function of sets [Balov 2013].
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/run_limits.h"
#include "base/table.h"

namespace topdag {

// For each parent set the average over the rows that are complete in x and its parents, in nats a row: at most 0, and
// minus ln(states of x) where there is no such row, as if nothing were known. The last state of every variable of the
// table stands for a missing cell. `sets`: so many words for each parent set, the first word for variables 0 to 63, x in
// none; those that share their highest variables share work if they are neighbours. The averages depend on how often
// states occur together alone, to the last bit. False when a limit stopped it.
bool average_log_likelihoods(const Table& table, int x, const std::uint64_t* sets, std::size_t n_sets, int words,
                             Limits& limits, double* averages);

}  // namespace topdag
