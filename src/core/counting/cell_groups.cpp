#include "counting/cell_groups.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/simd.h"

namespace topdag {

namespace {

TOPDAG_SIMD void sum_out(const std::uint32_t* counts, std::size_t cells, std::size_t states, std::size_t rest,
                         std::uint32_t* sums) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
        std::uint32_t* to = sums + cell * rest;
        const std::uint32_t* from = counts + cell * states * rest;
        if (states == 1) {
            std::copy(from, from + rest, to);
            continue;
        }
        for (std::size_t k = 0; k < rest; ++k) to[k] = from[k] + from[rest + k];
        for (std::size_t s = 2; s < states; ++s)
            for (std::size_t k = 0; k < rest; ++k) to[k] += from[s * rest + k];
    }
}

// A large cell's rows as a dense table over the positions from `position` on, behind what is in storage.
void append_dense(const CountPlan& plan, int position, const std::uint32_t* rows, std::size_t n_rows,
                  std::vector<std::uint32_t>& storage) {
    const std::size_t begin = storage.size();
    storage.resize(begin + static_cast<std::size_t>(plan.rest_cells[position]), 0);
    const std::vector<std::uint32_t>& index = plan.rest_index[position];
    for (std::size_t i = 0; i < n_rows; ++i) storage[begin + index[rows[i]]] += plan.weights[rows[i]];
}

// Files the cell whose rows stand in `cells.rows` from `begin` to `end`. A cell that stays large is moved down to
// `used`, behind the large cells before it; `used` then stands behind it.
void file_cell(const CountPlan& plan, int position, std::size_t begin, std::size_t end, std::uint64_t weight,
               std::size_t& used, SparseCells& cells, std::vector<std::uint32_t>& dense_storage) {
    std::uint32_t* members = cells.rows.data() + begin;
    const auto total = static_cast<std::uint32_t>(weight);
    if (end - begin == 1) {
        cells.add_settled(total);
    } else if (weight <= small_limit && plan.is_masked(position)) {
        cells.add_small(plan, members, end - begin);
    } else if (plan.is_dense_worthwhile(position, end - begin)) {
        append_dense(plan, position, members, end - begin, dense_storage);
    } else {
        std::memmove(cells.rows.data() + used, members, (end - begin) * sizeof(std::uint32_t));
        used += end - begin;
        cells.large.push_back({static_cast<std::uint32_t>(used), total});
        cells.most_rows = std::max<std::size_t>(cells.most_rows, end - begin);
    }
}

// Sorts rows by their state into `to`; ends[s] becomes the end of state s. `ends` must be zero before.
void sort_by_state(const std::uint16_t* column, std::size_t states, const std::uint32_t* rows, std::size_t n_rows,
                   std::uint32_t* to, std::uint32_t* ends) {
    for (std::size_t i = 0; i < n_rows; ++i) ++ends[column[rows[i]]];
    std::uint32_t at = 0;
    for (std::size_t s = 0; s < states; ++s) {
        const std::uint32_t size = ends[s];
        ends[s] = at;
        at += size;
    }
    for (std::size_t i = 0; i < n_rows; ++i) to[ends[column[rows[i]]]++] = rows[i];
}

std::uint64_t weight_of(const CountPlan& plan, const std::uint32_t* rows, std::size_t n_rows) {
    std::uint64_t weight = 0;
    for (std::size_t i = 0; i < n_rows; ++i) weight += plan.weights[rows[i]];
    return weight;
}

void add_own_block(const CountPlan& plan, int position, DenseCells& dense) {
    if (dense.storage.empty()) return;
    const auto rest = static_cast<std::size_t>(plan.rest_cells[position]);
    dense.blocks.push_back({dense.storage.data(), dense.storage.size() / rest});
}

// The settled cells and the small ones, as they are once the position with this mask bit is included.
void keep_agreeing(const SparseCells& from, PositionMask bit, SparseCells& to) {
    for (std::size_t size = 2; size <= small_limit; ++size) {
        std::vector<PositionMask>& kept = to.agreeing[size];
        kept.resize(from.agreeing[size].size());
        std::size_t n_kept = 0;
        for (PositionMask mask : from.agreeing[size]) {
            kept[n_kept] = mask;
            n_kept += (mask & bit) != 0;
        }
        kept.resize(n_kept);
    }
    to.small_rows = from.small_rows;
    to.light = from.light;
    to.heavy = from.heavy;
}

}  // namespace

void SparseCells::clear() {
    rows.clear();
    large.clear();
    most_rows = 0;
    for (auto& masks : agreeing) masks.clear();
    small_rows = 0;
    light.fill(0);
    heavy.clear();
}

void SparseCells::add_settled(std::uint32_t weight) {
    if (weight < light_limit) {
        ++light[weight];
    } else {
        heavy.push_back(weight);
    }
}

void SparseCells::add_small(const CountPlan& plan, const std::uint32_t* members, std::size_t n_members) {
    std::array<std::uint32_t, small_limit> row;
    std::size_t n = 0;
    for (std::size_t i = 0; i < n_members; ++i)
        for (std::uint32_t copy = 0; copy < plan.weights[members[i]]; ++copy) row[n++] = members[i];
    small_rows += n;
    for_each_agreement(
        n, [&](std::size_t a, std::size_t b) { return plan.agreement(row[a], row[b]); },
        [&](std::size_t size, PositionMask mask) { agreeing[size].push_back(mask); });
}

void DenseCells::clear() {
    blocks.clear();
    storage.clear();
}

void begin_cells(const CountPlan& plan, SparseCells& sparse, DenseCells& dense) {
    sparse.clear();
    dense.clear();
    sparse.rows.resize(plan.n_distinct);
    std::iota(sparse.rows.begin(), sparse.rows.end(), 0U);
    std::size_t used = 0;
    file_cell(plan, 0, 0, plan.n_distinct, plan.n_rows, used, sparse, dense.storage);
    add_own_block(plan, 0, dense);
}

void include(const CountPlan& plan, int position, const SparseCells& sparse, const DenseCells& dense,
             SparseCells& sparse_after, DenseCells& dense_after, std::vector<std::uint32_t>& scratch) {
    sparse_after.clear();
    dense_after.clear();
    keep_agreeing(sparse, plan.bit_of(position), sparse_after);
    const auto states = static_cast<std::size_t>(plan.arity[position]);
    sparse_after.rows.resize(sparse.rows.size());
    std::size_t begin = 0;
    std::size_t used = 0;
    for (const SparseCells::Cell& cell : sparse.large) {
        scratch.assign(states, 0);
        std::uint32_t* sorted = sparse_after.rows.data() + begin;
        sort_by_state(plan.column[position], states, sparse.rows.data() + begin, cell.end - begin, sorted, scratch.data());
        std::size_t first = begin;
        for (std::size_t s = 0; s < states; ++s) {
            const std::size_t last = begin + scratch[s];
            if (last == first) continue;
            const std::uint64_t weight = weight_of(plan, sparse_after.rows.data() + first, last - first);
            file_cell(plan, position + 1, first, last, weight, used, sparse_after, dense_after.storage);
            first = last;
        }
        begin = cell.end;
    }
    for (const DenseCells::Block& block : dense.blocks)
        dense_after.blocks.push_back({block.counts, block.cells * states});
    add_own_block(plan, position + 1, dense_after);
}

const SparseCells& exclude(const CountPlan& plan, int position, const SparseCells& sparse, const DenseCells& dense,
                           SparseCells& sparse_after, DenseCells& dense_after) {
    dense_after.clear();
    const auto states = static_cast<std::size_t>(plan.arity[position]);
    const auto rest = static_cast<std::size_t>(plan.rest_cells[position + 1]);
    std::size_t cells = 0;
    for (const DenseCells::Block& block : dense.blocks) cells += block.cells;
    dense_after.storage.resize(cells * rest);
    std::uint32_t* sums = dense_after.storage.data();
    for (const DenseCells::Block& block : dense.blocks) {
        sum_out(block.counts, block.cells, states, rest, sums);
        sums += block.cells * rest;
    }
    const bool stays_large = !plan.is_dense_worthwhile(position + 1, sparse.most_rows) &&
                             position + 1 != plan.first_masked;  // from where on cells can be small
    const bool is_unchanged = sparse.large.empty() || stays_large;
    if (!is_unchanged) {
        sparse_after = sparse;
        sparse_after.large.clear();
        sparse_after.most_rows = 0;
        std::size_t begin = 0;
        std::size_t used = 0;
        for (const SparseCells::Cell& cell : sparse.large) {
            file_cell(plan, position + 1, begin, cell.end, cell.weight, used, sparse_after, dense_after.storage);
            begin = cell.end;
        }
    }
    add_own_block(plan, position + 1, dense_after);
    return is_unchanged ? sparse : sparse_after;
}

}  // namespace topdag
