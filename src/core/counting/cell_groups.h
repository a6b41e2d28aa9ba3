// cell_groups.h: the cells of one set of variables while sets are counted, and how they split.
//
// Cells come in four kinds. *Large* ones are lists of rows. *Dense* ones are tables of counts over all
// variables still to come. *Settled* ones hold one distinct row: no variable can split them. *Small* ones hold
// two to four rows (equal rows counted apart); of those only the agreements are kept. With j rows agreeing on a
// set in so many pairs, triples and fours, a function f with f(0) = 0 sums over small cells to
//   rows * f(1) + pairs * D2 + triples * D3 + fours * D4,   Dj the j-th difference of f at 0  (Newton's series),
// and including a variable is no more than dropping the masks that lack it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "counting/count_plan.h"

namespace topdag {

constexpr std::uint64_t small_limit = 4;   // rows of a small cell, at most
constexpr std::uint64_t light_limit = 16;  // settled cells below this weight are tallied by weight

// Calls sink(size, mask) for every pair, triple and four among n <= small_limit rows; agree(a, b) is the mask of a pair.
template <class Agree, class Sink>
void for_each_agreement(std::size_t n, Agree&& agree, Sink&& sink) {
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b) {
            const PositionMask pair = agree(a, b);
            sink(2, pair);
            for (std::size_t c = b + 1; c < n; ++c) {
                const PositionMask triple = pair & agree(a, c);
                sink(3, triple);
                for (std::size_t d = c + 1; d < n; ++d) sink(4, triple & agree(a, d));
            }
        }
}

struct SparseCells {
    struct Cell { std::uint32_t end; std::uint32_t weight; };  // rows up to `end`, counted with weights

    std::vector<std::uint32_t> rows;
    std::vector<Cell> large;
    std::size_t most_rows = 0;  // distinct rows of the largest cell

    std::array<std::vector<PositionMask>, small_limit + 1> agreeing;  // [2], [3], [4]: pairs, triples, fours
    std::uint64_t small_rows = 0;

    std::array<std::uint32_t, light_limit> light{};  // settled cells by weight
    std::vector<std::uint32_t> heavy;                // weights of the other settled cells

    void clear();
    void add_settled(std::uint32_t weight);
    void add_small(const CountPlan& plan, const std::uint32_t* members, std::size_t n_members);
};

struct DenseCells {
    struct Block { const std::uint32_t* counts; std::size_t cells; };  // cells x rest_cells of the level

    std::vector<Block> blocks;
    std::vector<std::uint32_t> storage;  // what this level counted itself

    void clear();
};

// The cells of the empty set: one cell with all rows.
void begin_cells(const CountPlan& plan, SparseCells& sparse, DenseCells& dense);

// The cells of the set with the variable at `position` added; tables now start at position + 1.
void include(const CountPlan& plan, int position, const SparseCells& sparse, const DenseCells& dense,
             SparseCells& sparse_after, DenseCells& dense_after, std::vector<std::uint32_t>& scratch);

// The cells of the same set once the variable at `position` is passed over: dense tables sum it out, and large
// cells become dense where that now pays. Returns where the sparse cells are: `sparse` itself or `sparse_after`.
const SparseCells& exclude(const CountPlan& plan, int position, const SparseCells& sparse, const DenseCells& dense,
                           SparseCells& sparse_after, DenseCells& dense_after);

}  // namespace topdag
