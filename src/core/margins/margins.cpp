#include "margins/margins.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "base/careful_sum.h"
#include "base/infinity.h"
#include "base/parallel.h"
#include "base/simd.h"

namespace topdag {

namespace {

constexpr std::size_t rows_at_once = 1 << 16;   // their codes and a table stay near the processor
constexpr double cells_near = 1 << 16;          // of a table that does; of a block, whose states are numbers of 16 bits
constexpr std::size_t sets_at_once = 1 << 12;
constexpr double bytes_of_cell = 4.0;
constexpr double bytes_of_table = 100.0;        // beside its cells
// Where rows are at hand, a row takes about three times as long in a table as in a set that is counted by itself.
constexpr std::size_t least_rows = 1 << 17;
constexpr double sets_for_one = 4.0;
constexpr double most_bytes = 1 << 27;

// The next choice of as many of n, ascending; false after the last.
bool next_choice(std::vector<int>& choice, int n) {
    const int size = static_cast<int>(choice.size());
    int i = size - 1;
    while (i >= 0 && choice[i] == n - size + i) --i;
    if (i < 0) return false;
    ++choice[i];
    for (int j = i + 1; j < size; ++j) choice[j] = choice[j - 1] + 1;
    return true;
}

std::vector<int> members_of(VarSet set) {
    std::vector<int> members;
    for (; set != 0; set &= set - 1) members.push_back(first_of(set));
    return members;
}

// The sums over the states of one variable; the cells of those before it count `cells`, those behind it `rest`.
TOPDAG_SIMD void sum_over_states(const std::uint32_t* counts, std::size_t cells, std::size_t states, std::size_t rest,
                                 std::uint32_t* sums) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
        std::uint32_t* to = sums + cell * rest;
        const std::uint32_t* from = counts + cell * states * rest;
        std::copy(from, from + rest, to);
        for (std::size_t s = 1; s < states; ++s)
            for (std::size_t k = 0; k < rest; ++k) to[k] += from[s * rest + k];
    }
}

}  // namespace

Margins::Margins(std::vector<int> arities, int most_variables, double bytes)
    : arities_(std::move(arities)), most_variables_(std::min(most_variables, static_cast<int>(arities_.size()))) {
    choose_blocks(bytes);
}

// The sum of the products of these numbers over all choices of as many as a table has blocks: what all tables take
// together, or how many they are. An elementary symmetric polynomial.
double Margins::over_tables(const std::vector<std::size_t>& of_block) const {
    const auto together = std::min<std::size_t>(most_variables_, of_block.size());
    std::vector<double> of_size(together + 1, 0.0);
    of_size[0] = 1.0;
    for (std::size_t own : of_block)
        for (std::size_t size = together; size > 0; --size) of_size[size] += of_size[size - 1] * static_cast<double>(own);
    return of_size[together];
}

// Two blocks after another become one, those of the fewest cells, as long as tables stay small.
void Margins::choose_blocks(double bytes) {
    const double cells_each = std::pow(cells_near, 1.0 / std::max(1, most_variables_));
    for (int v = 0; v < n_variables(); ++v) blocks_.push_back({{v}, static_cast<std::size_t>(arities_[v])});
    while (true) {
        std::stable_sort(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) { return a.cells < b.cells; });
        std::vector<std::size_t> cells;
        for (const Block& block : blocks_) cells.push_back(block.cells);
        n_together_ = std::min(most_variables_, static_cast<int>(blocks_.size()));
        n_tables_ = over_tables(std::vector<std::size_t>(cells.size(), 1));
        bytes_ = bytes_of_cell * over_tables(cells) + bytes_of_table * n_tables_;
        most_cells_ = std::accumulate(cells.end() - n_together_, cells.end(), 1.0, std::multiplies<double>());
        if (cells.size() < 2) return;
        const std::size_t joined = cells[0] * cells[1];
        cells.erase(cells.begin());
        cells[0] = joined;
        const double all = bytes_of_cell * over_tables(cells) +
                           bytes_of_table * over_tables(std::vector<std::size_t>(cells.size(), 1));
        if (static_cast<double>(joined) > cells_each || all > bytes) return;
        Block& taken = blocks_[1];
        taken.variables.insert(taken.variables.end(), blocks_[0].variables.begin(), blocks_[0].variables.end());
        taken.cells = joined;
        blocks_.erase(blocks_.begin());
    }
}

double Margins::bytes_at_work(int threads) const {
    constexpr double bytes_of_a_sum = 3.0 * sizeof(std::uint32_t);  // of each cell: the table, a half of it and a quarter
    const double at_once = static_cast<double>(rows_at_once) * (2.0 * static_cast<double>(blocks_.size()) + 4.0 * threads);
    return bytes_ + at_once + bytes_of_a_sum * most_cells_ * threads;
}

void Margins::list_tables() {
    block_of_.resize(n_variables());
    for (std::size_t b = 0; b < blocks_.size(); ++b)
        for (int v : blocks_[b].variables) block_of_[v] = static_cast<int>(b);
    std::vector<int> choice(n_together_);
    std::iota(choice.begin(), choice.end(), 0);
    do {
        const bool differs_in_last =
            !together_.empty() && std::equal(choice.begin(), choice.end() - 1, together_.back().begin());
        if (!differs_in_last) firsts_.push_back(together_.size());
        together_.push_back(choice);
    } while (next_choice(choice, static_cast<int>(blocks_.size())));
    tables_.resize(together_.size());
    codes_.resize(blocks_.size());
}

bool Margins::add(const Table& rows, std::uint64_t steps, Limits& limits) {
    if (tables_.empty()) list_tables();
    std::vector<std::vector<std::uint32_t>> partial(limits.threads);
    for (std::size_t begin = 0; begin < rows.n_distinct; begin += rows_at_once) {
        const std::size_t n_rows = std::min(rows_at_once, rows.n_distinct - begin);
        parallel_for(blocks_.size(), limits, [&](std::size_t b, int) { code_block(b, rows, begin, n_rows); });
        parallel_for(firsts_.size(), limits, [&](std::size_t i, int worker) {
            count_in_tables(i, rows.weights == nullptr ? nullptr : rows.weights + begin, n_rows, partial[worker]);
        });
        if (limits.stop.load()) return false;
        limits.done += steps * (begin + n_rows) / rows.n_distinct - steps * begin / rows.n_distinct;
    }
    n_rows_ += rows.n_rows;
    return true;
}

void Margins::code_block(std::size_t b, const Table& rows, std::size_t begin, std::size_t n_rows) {
    codes_[b].assign(n_rows, 0);
    std::uint16_t* code = codes_[b].data();
    for (int v : blocks_[b].variables) {
        const std::uint16_t* column = rows.columns[v] + begin;
        const auto states = static_cast<std::uint16_t>(arities_[v]);
        for (std::size_t row = 0; row < n_rows; ++row) code[row] = static_cast<std::uint16_t>(code[row] * states + column[row]);
    }
}

// All tables that have the same blocks but the last.
void Margins::count_in_tables(std::size_t first, const std::uint32_t* weights, std::size_t n_rows,
                              std::vector<std::uint32_t>& partial) {
    const std::vector<int>& shared = together_[firsts_[first]];
    const std::size_t end = first + 1 < firsts_.size() ? firsts_[first + 1] : tables_.size();
    partial.assign(n_rows, 0);
    std::size_t cells = 1;
    for (int i = 0; i + 1 < n_together_; ++i) {
        const auto own = static_cast<std::uint32_t>(blocks_[shared[i]].cells);
        const std::uint16_t* code = codes_[shared[i]].data();
        for (std::size_t row = 0; row < n_rows; ++row) partial[row] = partial[row] * own + code[row];
        cells *= own;
    }
    for (std::size_t t = firsts_[first]; t < end; ++t) {
        const Block& last = blocks_[together_[t].back()];
        const auto own = static_cast<std::uint32_t>(last.cells);
        const std::uint16_t* code = codes_[together_[t].back()].data();
        tables_[t].resize(cells * last.cells);
        std::uint32_t* counts = tables_[t].data();
        if (weights == nullptr) {
            for (std::size_t row = 0; row < n_rows; ++row) ++counts[partial[row] * own + code[row]];
        } else {
            for (std::size_t row = 0; row < n_rows; ++row) counts[partial[row] * own + code[row]] += weights[row];
        }
    }
}

// The table with these variables that has the fewest others.
std::size_t Margins::table_with(const std::vector<int>& variables) const {
    std::vector<char> is_in(blocks_.size(), 0);
    int n_in = 0;
    for (int v : variables)
        if (!std::exchange(is_in[block_of_[v]], 1)) ++n_in;
    for (std::size_t b = 0; n_in < n_together_; ++b)  // those of few cells stand first
        if (!std::exchange(is_in[b], 1)) ++n_in;
    std::vector<int> blocks;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (is_in[b]) blocks.push_back(static_cast<int>(b));
    return static_cast<std::size_t>(std::lower_bound(together_.begin(), together_.end(), blocks) - together_.begin());
}

void Margins::count(const std::vector<int>& variables, Counts& found) const {
    const std::size_t t = table_with(variables);
    found.variables.clear();
    found.counts = tables_[t];
    std::size_t before = 1, rest = tables_[t].size();
    int next = 0;
    for (int b : together_[t])
        for (int v : blocks_[b].variables) {
            const auto states = static_cast<std::size_t>(arities_[v]);
            rest /= states;
            if (std::find(variables.begin(), variables.end(), v) != variables.end()) {
                found.variables.push_back(v);
                before *= states;
                continue;
            }
            std::vector<std::uint32_t>& fewer = found.room[next];
            fewer.resize(before * rest);
            sum_over_states(found.counts.data(), before, states, rest, fewer.data());
            found.counts = fewer;
            next = 1 - next;
        }
}

bool Margins::sums(const FixedFunction& function, const std::vector<VarSet>& sets, Limits& limits,
                   std::vector<std::int64_t>& sums) const {
    const std::uint64_t n_looked_up = counts_looked_up(n_rows_, n_rows_ <= most_apart);
    std::vector<std::unique_ptr<CountTables>> functions(limits.threads);
    std::vector<Counts> found(limits.threads);
    sums.resize(sets.size());
    parallel_for(sets.size(), limits, [&](std::size_t i, int worker) {
        if (!functions[worker]) functions[worker] = std::make_unique<CountTables>(n_looked_up, function);
        count(members_of(sets[i]), found[worker]);
        const CountTable& f = functions[worker]->of(static_cast<double>(found[worker].counts.size()));
        sums[i] = 0;
        for (std::uint32_t rows : found[worker].counts) sums[i] += f(rows);
    });
    return !limits.stop.load();
}

bool Margins::sums_of_all(const CellTables& tables, const SetLimits& wanted, Limits& limits, double* sums) const {
    const std::size_t size = n_sets(n_variables());
    std::vector<Counts> found(limits.threads);
    parallel_for((size + sets_at_once - 1) / sets_at_once, limits, [&](std::size_t part, int worker) {
        for (VarSet set = part * sets_at_once; set < std::min(size, (part + 1) * sets_at_once); ++set) {
            sums[set] = minus_infinity;
            if (size_of(set) > wanted.max_size) continue;
            const std::vector<int> members = members_of(set);
            std::uint64_t set_class = 0;
            double cells = 1.0;
            for (int v : members) {
                set_class += tables.class_of(v);
                cells *= arities_[v];
            }
            if (cells > wanted.max_cells) continue;
            const double* values = tables.values(set_class);
            CarefulSum sum;
            count(members, found[worker]);
            for (std::uint32_t rows : found[worker].counts)
                sum.add(rows <= tables.limit() ? values[rows] : tables.function(set_class)(rows));
            sums[set] = sum.value();
        }
    });
    return !limits.stop.load();
}

std::optional<Margins> margins_worthwhile(const Table& table, int most_variables, double n_sets) {
    if (table.n_distinct < least_rows || most_variables >= table.n_variables()) return std::nullopt;
    Margins margins(table.arities, most_variables, most_bytes);
    const bool is_small = margins.bytes() <= most_bytes && margins.most_cells() <= static_cast<double>(least_rows);
    if (!is_small || n_sets < sets_for_one * margins.n_tables()) return std::nullopt;
    return margins;
}

}  // namespace topdag
