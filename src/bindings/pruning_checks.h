// pruning_checks.h: what is asked of scoring with pruning, checked once so that the core may trust it.
#pragma once

#include "binding.h"
#include "scoring/pruning_question.h"

namespace topdag {

inline void check_question(const Table& table, const PruningQuestion& question, int most = 64) {
    const int n = table.n_variables();
    require(n <= most, "too many variables");
    require(question.max_parents >= 0 && question.max_parents <= most, "a number of parents");
    const std::size_t n_below = question.below.empty() ? 0 : static_cast<std::size_t>(n);
    require(question.below_of.size() == n_below, "one function a variable");
    for (int f : question.below_of) require(f >= 0 && f < static_cast<int>(question.below.size()), "no such function");
}

inline FixedFunction checked_function(int kind, double parameter, bool spread, int bits) {
    require(kind >= 0 && kind <= static_cast<int>(CellKind::log_rising) && bits >= 0 && bits < 63, "no such function");
    return {static_cast<CellKind>(kind), parameter, spread, bits};
}

}  // namespace topdag
