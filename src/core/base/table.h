// table.h: coded columns of distinct rows with weights (a view; the arrays belong to the caller).
#pragma once

#include <cstdint>
#include <vector>

namespace topdag {

struct Table {
    std::vector<const std::uint16_t*> columns;  // columns[v][row] < arities[v]
    std::vector<int> arities;                   // states declared
    const std::uint32_t* weights = nullptr;     // how many equal rows each distinct row stands for; none: one each
    std::size_t n_distinct = 0;                 // none: the rows are elsewhere, and whoever has them counts
    std::uint64_t n_rows = 0;                   // sum of weights, at most 2^32 - 1

    int n_variables() const { return static_cast<int>(arities.size()); }
    std::uint64_t most_distinct() const { return n_distinct == 0 ? n_rows : n_distinct; }
};

}  // namespace topdag
