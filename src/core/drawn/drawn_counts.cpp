#include "drawn/drawn_counts.h"

#include <algorithm>
#include <memory>

#include "base/parallel.h"
#include "base/simd.h"

namespace topdag {

namespace {

using Count = DrawnRows::Count;
using Sum = DrawnRows::Sum;

constexpr std::size_t sets_of_a_part = 1024;

// The cells of a set.
struct DrawnCells {
    std::vector<std::uint32_t> cell_of;  // by row
    std::vector<Count> counts;           // by cell
    std::vector<Sum> values;             // the function at these counts
    Sum whole = {};                      // its sum over all cells
};

// What is added up on the way, kept empty in between.
struct RareParts {
    std::vector<Count> counts;           // by cell, then state
    std::vector<std::uint8_t> is_marked;
    std::vector<std::uint32_t> marked;   // cells that have some

    void hold(std::size_t n_cells, std::size_t n_states) {
        if (counts.size() < n_cells * n_states) counts.resize(n_cells * n_states);
        if (is_marked.size() < n_cells) is_marked.resize(n_cells);
        marked.clear();
    }
};

[[gnu::always_inline]] inline void add(Count& to, const Count& more) {
    for (int d = 0; d < draws_at_once; ++d) to.of[d] = static_cast<std::uint16_t>(to.of[d] + more.of[d]);
}

[[gnu::always_inline]] inline void subtract(Count& from, const Count& part) {
    for (int d = 0; d < draws_at_once; ++d) from.of[d] = static_cast<std::uint16_t>(from.of[d] - part.of[d]);
}

// Counts the rows with rare states in each cell, and marks the cells that have some.
TOPDAG_SIMD void count_rare(const DrawnRows& rows, int place, const DrawnCells& cells, RareParts& parts) {
    const std::size_t n_states = static_cast<std::size_t>(rows.arity(place) - 1);
    for (const DrawnRows::Rare& rare : rows.rare(place)) {
        const std::uint32_t cell = cells.cell_of[rare.row];
        add(parts.counts[cell * n_states + rare.state], rows.drawn(rare.row));
        if (parts.is_marked[cell]) continue;
        parts.is_marked[cell] = 1;
        parts.marked.push_back(cell);
    }
}

// What splitting the marked cells changes in the sum; nothing is marked afterwards.
TOPDAG_SIMD void add_parts(const DrawnCells& cells, std::size_t n_states, const std::int64_t* f, RareParts& parts, Sum& sum) {
    for (const std::uint32_t cell : parts.marked) {
        Count rest = cells.counts[cell];
        for (std::size_t s = 0; s < n_states; ++s) {
            Count& part = parts.counts[cell * n_states + s];
            subtract(rest, part);
            for (int d = 0; d < draws_at_once; ++d) sum.of[d] += f[part.of[d]];
            part = {};
        }
        for (int d = 0; d < draws_at_once; ++d) sum.of[d] += f[rest.of[d]] - cells.values[cell].of[d];
        parts.is_marked[cell] = 0;
    }
}

// Gives the rows with rare states cells of their own; `names`: by cell and state the new one, 0 where there is none yet.
TOPDAG_SIMD void move_rare(const DrawnRows& rows, int place, DrawnCells& cells, std::vector<std::uint32_t>& names) {
    const std::size_t n_states = static_cast<std::size_t>(rows.arity(place) - 1);
    names.assign(cells.counts.size() * n_states, 0);
    for (const DrawnRows::Rare& rare : rows.rare(place)) {
        const std::uint32_t cell = cells.cell_of[rare.row];
        std::uint32_t& name = names[cell * n_states + rare.state];
        if (name == 0) {
            name = static_cast<std::uint32_t>(cells.counts.size());
            cells.counts.push_back({});
        }
        cells.cell_of[rare.row] = name;
        add(cells.counts[name], rows.drawn(rare.row));
        subtract(cells.counts[cell], rows.drawn(rare.row));
    }
}

TOPDAG_SIMD void find_values(const std::int64_t* f, DrawnCells& cells) {
    cells.values.resize(cells.counts.size());
    cells.whole = {};
    for (std::size_t cell = 0; cell < cells.counts.size(); ++cell)
        for (int d = 0; d < draws_at_once; ++d) {
            cells.values[cell].of[d] = f[cells.counts[cell].of[d]];
            cells.whole.of[d] += cells.values[cell].of[d];
        }
}

// One thread's counting: the cells of the shared part of the last set, from its highest variable down.
class DrawnWalk {
public:
    DrawnWalk(const DrawnRows& rows, const FixedFunction& function)
        : rows_(rows), f_(rows.n_looked_up(), function, 1.0), levels_(rows.n_variables() + 1) {
        levels_[0].cell_of.assign(rows.n_units(), 0);
        levels_[0].counts.assign(1, {});
        for (std::uint32_t row = 0; row < rows.n_units(); ++row) add(levels_[0].counts[0], rows.drawn(row));
        find_values(f_.values(), levels_[0]);
    }

    Sum sum(VarSet set) {
        if (set == 0) return levels_[0].whole;
        return split(levels_[descend(set & (set - 1))], first_of(set));
    }

private:
    // Makes the cells of the set; returns their depth.
    int descend(VarSet set) {
        int depth = 0;
        for (; set != 0; ++depth) {
            const int place = last_of(set);
            set &= ~only(place);
            if (depth < depth_ && path_[depth] == place) continue;
            refine(levels_[depth], place, levels_[depth + 1]);
            path_[depth] = place;
            depth_ = depth + 1;
        }
        depth_ = depth;
        return depth;
    }

    // The cells with a further variable.
    void refine(const DrawnCells& from, int place, DrawnCells& to) {
        to.cell_of = from.cell_of;
        to.counts = from.counts;
        move_rare(rows_, place, to, names_);
        find_values(f_.values(), to);
    }

    // The sum over the cells with a further variable.
    Sum split(const DrawnCells& cells, int place) {
        const std::size_t n_states = static_cast<std::size_t>(rows_.arity(place) - 1);
        parts_.hold(cells.counts.size(), n_states);
        count_rare(rows_, place, cells, parts_);
        Sum sum = cells.whole;
        add_parts(cells, n_states, f_.values(), parts_, sum);
        return sum;
    }

    const DrawnRows& rows_;
    CountTable f_;
    std::vector<DrawnCells> levels_;
    int path_[64] = {};
    int depth_ = 0;
    std::vector<std::uint32_t> names_;
    RareParts parts_;
};

}  // namespace

DrawnRows::DrawnRows(const Table& table, const std::vector<const std::uint32_t*>& draws, const std::vector<int>& order)
    : CountingRows(table, order, true), drawn_(n_units(), Count{}), rare_(order.size()) {
    for (std::size_t d = 0; d < draws.size(); ++d)
        for (std::uint32_t row = 0; row < n_units(); ++row)
            drawn_[row].of[d] = static_cast<std::uint16_t>(draws[d][source(row)]);
    for (int p = 0; p < n_variables(); ++p) {
        std::vector<std::uint32_t> n_rows(arity(p), 0);
        for (std::uint32_t row = 0; row < n_units(); ++row) ++n_rows[codes(p)[row]];
        const auto frequent = static_cast<std::uint32_t>(std::max_element(n_rows.begin(), n_rows.end()) - n_rows.begin());
        for (std::uint32_t row = 0; row < n_units(); ++row) {
            const std::uint32_t state = codes(p)[row];
            if (state != frequent) rare_[p].push_back({row, state - (state > frequent)});
        }
    }
}

bool sum_over_listed(const DrawnRows& rows, const FixedFunction& function, const std::vector<VarSet>& sets,
                     Limits& limits, std::vector<DrawnRows::Sum>& sums) {
    sums.resize(sets.size());
    std::vector<std::unique_ptr<DrawnWalk>> walks(limits.threads);
    parallel_for((sets.size() + sets_of_a_part - 1) / sets_of_a_part, limits, [&](std::size_t task, int worker) {
        if (!walks[worker]) walks[worker] = std::make_unique<DrawnWalk>(rows, function);
        const std::size_t begin = task * sets_of_a_part;
        const std::size_t end = std::min(sets.size(), begin + sets_of_a_part);
        for (std::size_t i = begin; i < end; ++i) sums[i] = walks[worker]->sum(sets[i]);
        limits.done += end - begin;
    });
    return !limits.stop.load();
}

}  // namespace topdag
