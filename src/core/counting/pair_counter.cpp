#include "counting/pair_counter.h"

#include <numeric>

#include "base/simd.h"

namespace topdag {

namespace {

// f over the four parts of each cell; `a` and `b` are its rows with the second state of one variable and of the other.
TOPDAG_SIMD std::int64_t sum_of_quarters(const std::uint64_t* a, const std::uint64_t* b, const std::uint32_t* n_a,
                                         const std::uint32_t* n_b, const std::uint32_t* n, std::size_t n_cells,
                                         const std::int64_t* f) {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < n_cells; ++c) {
        const std::uint32_t both = static_cast<std::uint32_t>(__builtin_popcountll(a[c] & b[c]));
        sum += f[both] + f[n_a[c] - both] + f[n_b[c] - both] + f[n[c] - n_a[c] - n_b[c] + both];
    }
    return sum;
}

// The same for cells of several words each.
TOPDAG_SIMD std::int64_t sum_of_wide_quarters(const std::uint64_t* a, const std::uint64_t* b, const std::uint32_t* n_a,
                                              const std::uint32_t* n_b, const PairCounter::WideCell* cells,
                                              std::size_t n_cells, const std::int64_t* f) {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < n_cells; ++c) {
        std::uint32_t both = 0;
        for (std::uint32_t lane = cells[c].begin; lane < cells[c].end; ++lane)
            both += static_cast<std::uint32_t>(__builtin_popcountll(a[lane] & b[lane]));
        sum += f[both] + f[n_a[c] - both] + f[n_b[c] - both] + f[cells[c].count - n_a[c] - n_b[c] + both];
    }
    return sum;
}

// The rows of each lane that have the second state.
TOPDAG_SIMD void take_second_states(const std::vector<PairCounter::Lane>& lanes, const std::uint64_t* state,
                                    std::uint64_t* bits, std::uint32_t* ones) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        bits[i] = lanes[i].bits & state[lanes[i].word];
        ones[i] = static_cast<std::uint32_t>(__builtin_popcountll(bits[i]));
    }
}

}  // namespace

void PairCounter::begin(const BitCells& cells, int n_places) {
    settled_ = &cells.settled;
    summed_for_ = nullptr;
    lanes_.clear();
    counts_.clear();
    wide_.clear();
    for (const BitCells::Cell& cell : cells.cells)
        if (cell.n_words == 1) {
            lanes_.push_back({cell.first_word, cells.bits[cell.at]});
            counts_.push_back(cell.count);
        }
    n_single_ = lanes_.size();
    for (const BitCells::Cell& cell : cells.cells) {
        if (cell.n_words == 1) continue;
        const std::uint32_t begin = static_cast<std::uint32_t>(lanes_.size());
        for (std::uint32_t w = 0; w < cell.n_words; ++w) lanes_.push_back({cell.first_word + w, cells.bits[cell.at + w]});
        wide_.push_back({begin, static_cast<std::uint32_t>(lanes_.size()), cell.count});
    }
    bits_.resize(lanes_.size() * static_cast<std::size_t>(n_places));
    ones_.resize(lanes_.size() * static_cast<std::size_t>(n_places));
    for (int place = 0; place < n_places; ++place)
        if (rows_.arity(place) == 2) add_place(place, cells.frame->states[place].data());
}

void PairCounter::add_place(int place, const std::uint64_t* state) {
    std::uint32_t* ones = &ones_[lanes_.size() * static_cast<std::size_t>(place)];
    take_second_states(lanes_, state, &bits_[lanes_.size() * static_cast<std::size_t>(place)], ones);
    for (std::size_t c = 0; c < wide_.size(); ++c) {
        const std::uint32_t whole = std::accumulate(ones + wide_[c].begin, ones + wide_[c].end, std::uint32_t{0});
        ones[n_single_ + c] = whole;  // the lanes of later cells lie behind
    }
}

std::int64_t PairCounter::sum(int place, int other, const CountTable& f) {
    if (summed_for_ != &f) {
        summed_for_ = &f;
        settled_sum_ = settled_->sum(f);
    }
    const std::size_t at = lanes_.size() * static_cast<std::size_t>(place);
    const std::size_t at_other = lanes_.size() * static_cast<std::size_t>(other);
    const std::uint64_t *a = &bits_[at], *b = &bits_[at_other];
    const std::uint32_t *n_a = &ones_[at], *n_b = &ones_[at_other];
    const std::int64_t sum = settled_sum_ + sum_of_quarters(a, b, n_a, n_b, counts_.data(), n_single_, f.values());
    if (wide_.empty()) return sum;
    return sum + sum_of_wide_quarters(a, b, n_a + n_single_, n_b + n_single_, wide_.data(), wide_.size(), f.values());
}

}  // namespace topdag
