#include "margins/margins.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "base/simd.h"

namespace topdag {

namespace {

constexpr std::size_t rows_at_once = 1 << 16;   // their codes and a table stay near the processor
constexpr double cells_near = 1 << 16;          // of a table that does
constexpr std::size_t most_in_block = 1 << 16;  // states of a block are numbers of 16 bits
constexpr double bytes_of_cell = 4.0;

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
    list_tables();
}

// What tables of all choices of blocks with so many cells take: the elementary symmetric polynomial of the cells.
double Margins::bytes_of(const std::vector<std::size_t>& cells) const {
    const auto together = std::min<std::size_t>(most_variables_, cells.size());
    std::vector<double> of_size(together + 1, 0.0);
    of_size[0] = bytes_of_cell;
    for (std::size_t own : cells)
        for (std::size_t size = together; size > 0; --size) of_size[size] += of_size[size - 1] * static_cast<double>(own);
    return of_size[together];
}

// Two blocks after another become one, those of the fewest cells, as long as tables stay small.
void Margins::choose_blocks(double bytes) {
    for (int v = 0; v < n_variables(); ++v) blocks_.push_back({{v}, static_cast<std::size_t>(arities_[v])});
    const double at_once = std::pow(cells_near, 1.0 / std::max(1, most_variables_));
    while (blocks_.size() > 1) {
        std::stable_sort(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) { return a.cells < b.cells; });
        const std::size_t joined = blocks_[0].cells * blocks_[1].cells;
        std::vector<std::size_t> cells{joined};
        for (std::size_t b = 2; b < blocks_.size(); ++b) cells.push_back(blocks_[b].cells);
        if (static_cast<double>(joined) > at_once || bytes_of(cells) > bytes) break;
        blocks_[1].variables.insert(blocks_[1].variables.end(), blocks_[0].variables.begin(), blocks_[0].variables.end());
        blocks_[1].cells = joined;
        blocks_.erase(blocks_.begin());
    }
    std::vector<std::size_t> cells;
    for (const Block& block : blocks_) cells.push_back(block.cells);
    bytes_ = bytes_of(cells);
}

void Margins::list_tables() {
    block_of_.resize(n_variables());
    for (std::size_t b = 0; b < blocks_.size(); ++b)
        for (int v : blocks_[b].variables) block_of_[v] = static_cast<int>(b);
    n_together_ = std::min(most_variables_, static_cast<int>(blocks_.size()));
    std::vector<int> choice(n_together_);
    std::iota(choice.begin(), choice.end(), 0);
    do {
        const bool differs_in_last = !together_.empty() && std::equal(choice.begin(), choice.end() - 1, together_.back().begin());
        if (!differs_in_last) firsts_.push_back(together_.size());
        together_.push_back(choice);
    } while (n_together_ > 0 && next_choice(choice, static_cast<int>(blocks_.size())));
}

bool Margins::add(const Table& rows, Limits& limits) {
    tables_.resize(together_.size());
    codes_.resize(blocks_.size());
    std::vector<std::vector<std::uint32_t>> partial(limits.threads);
    for (std::size_t begin = 0; begin < rows.n_distinct; begin += rows_at_once) {
        const std::size_t n_rows = std::min(rows_at_once, rows.n_distinct - begin);
        parallel_for(blocks_.size(), limits, [&](std::size_t b, int) { code_block(b, rows, begin, n_rows); });
        parallel_for(firsts_.size(), limits, [&](std::size_t i, int worker) {
            count_in_tables(i, rows.weights == nullptr ? nullptr : rows.weights + begin, n_rows, partial[worker]);
        });
        if (limits.stop.load()) return false;
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

Margins::Counts Margins::counts(const std::vector<int>& variables) const {
    const std::size_t t = table_with(variables);
    std::vector<std::uint32_t> counts = tables_[t], fewer;
    std::size_t before = 1, rest = counts.size();
    std::vector<int> left;
    for (int b : together_[t])
        for (int v : blocks_[b].variables) {
            const auto states = static_cast<std::size_t>(arities_[v]);
            rest /= states;
            if (std::find(variables.begin(), variables.end(), v) != variables.end()) {
                left.push_back(v);
                before *= states;
                continue;
            }
            fewer.resize(before * rest);
            sum_over_states(counts.data(), before, states, rest, fewer.data());
            counts.swap(fewer);
        }
    counts.resize(before);
    return {std::move(left), std::move(counts)};
}

bool Margins::sums(const FixedFunction& function, const std::vector<VarSet>& sets, Limits& limits,
                   std::vector<std::int64_t>& sums) const {
    const std::uint64_t n_looked_up = counts_looked_up(n_rows_, n_rows_ <= most_apart);
    std::vector<std::unique_ptr<CountTables>> functions(limits.threads);
    sums.resize(sets.size());
    parallel_for(sets.size(), limits, [&](std::size_t i, int worker) {
        if (!functions[worker]) functions[worker] = std::make_unique<CountTables>(n_looked_up, function);
        const Counts found = counts(members_of(sets[i]));
        const CountTable& f = functions[worker]->of(static_cast<double>(found.counts.size()));
        sums[i] = 0;
        for (std::uint32_t count : found.counts) sums[i] += f(count);
    });
    return !limits.stop.load();
}

}  // namespace topdag
