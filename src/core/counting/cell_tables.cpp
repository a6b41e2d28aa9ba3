#include "counting/cell_tables.h"

#include <algorithm>

namespace topdag {

namespace {

// Longer tables would leave the cache; rarer, larger counts are computed when met.
constexpr double longest = 4096;
constexpr double shortest = 5;
constexpr double byte_budget = 256e6;

std::uint64_t table_length(const Table& table, std::uint64_t n_tables) {
    const double useful = std::min(longest, static_cast<double>(table.n_rows) + 1);
    const double affordable = byte_budget / 8 / static_cast<double>(n_tables);
    return static_cast<std::uint64_t>(std::max(shortest, std::min(useful, affordable)));
}

}  // namespace

CellTables::CellTables(const Table& table, CellKind kind, double parameter, bool spread)
    : kind_(kind), parameter_(parameter), spread_(spread), classes_(table.arities) {
    const std::uint64_t n_tables = spread ? classes_.size() : 1;
    length_ = table_length(table, n_tables);
    values_.resize(n_tables * length_);
    for (std::uint64_t set_class = 0; set_class < n_tables; ++set_class)
        function(set_class).tabulate(&values_[set_class * length_], length_);
}

double CellTables::bytes(const Table& table, bool spread) {
    const std::uint64_t n_tables = spread ? ArityClasses(table.arities).size() : 1;
    return 8.0 * static_cast<double>(n_tables * table_length(table, n_tables));
}

}  // namespace topdag
