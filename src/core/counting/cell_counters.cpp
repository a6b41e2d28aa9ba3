#include "counting/cell_counters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/simd.h"

namespace topdag {

CountTable::CountTable(std::uint64_t n_looked_up, const FixedFunction& function, double cells)
    : function_{function.kind, function.spread ? function.parameter / cells : function.parameter},
      scale_(std::ldexp(1.0, function.bits)) {
    std::vector<double> exact(n_looked_up);
    function_.tabulate(exact.data(), exact.size());
    values_.resize(std::max<std::size_t>(exact.size(), SettledCells::light_limit), 0);
    for (std::size_t count = 0; count < exact.size(); ++count) values_[count] = std::llround(exact[count] * scale_);
}

std::int64_t CountTable::operator()(std::uint64_t count) const {
    return count < values_.size() ? values_[count] : std::llround(function_(count) * scale_);
}

const CountTable& CountTables::of(double cells) {
    const double key = function_.spread ? cells : 1.0;
    const auto found = by_cells_.find(key);
    return found != by_cells_.end() ? found->second
                                    : by_cells_.emplace(key, CountTable(n_looked_up_, function_, key)).first->second;
}

void SettledCells::add(std::uint64_t count) {
    if (count < light_limit) {
        ++light[count];
    } else {
        heavy.push_back(count);
    }
}

std::int64_t SettledCells::sum(const CountTable& f) const {
    std::int64_t total = 0;
    for (std::uint32_t count = 1; count < light_limit; ++count)
        total += static_cast<std::int64_t>(light[count]) * f.values()[count];
    for (std::uint64_t count : heavy) total += f(count);
    return total;
}

// ---- Weighted rows

void RowCounter::begin(RowCells& all) {
    all.rows.resize(rows_.n_units());
    std::iota(all.rows.begin(), all.rows.end(), 0);
    all.begins = {0, static_cast<std::uint32_t>(rows_.n_units())};
}

void RowCounter::refine(const RowCells& from, int place, RowCells& to) {
    const int arity = rows_.arity(place);
    const std::uint16_t* codes = rows_.codes(place);
    to.rows.resize(from.rows.size());
    to.begins.assign(1, 0);
    to.settled = from.settled;
    std::uint32_t end = 0;
    starts_.resize(arity + 1);
    for (std::size_t c = 0; c < from.n_cells(); ++c) {
        std::fill(starts_.begin(), starts_.end(), 0);
        for (std::uint32_t i = from.begins[c]; i < from.begins[c + 1]; ++i) ++starts_[codes[from.rows[i]] + 1];
        for (int s = 0; s < arity; ++s) starts_[s + 1] += starts_[s];
        group_.resize(from.begins[c + 1] - from.begins[c]);
        ends_.assign(starts_.begin(), starts_.end() - 1);
        for (std::uint32_t i = from.begins[c]; i < from.begins[c + 1]; ++i) {
            const std::uint32_t row = from.rows[i];
            group_[ends_[codes[row]]++] = row;
        }
        for (int s = 0; s < arity; ++s)
            end = add_cell(to, end, group_.data() + starts_[s], starts_[s + 1] - starts_[s]);
    }
    to.rows.resize(end);
}

std::int64_t RowCounter::split(const RowCells& cells, int place, const CountTable& f) {
    const std::uint16_t* codes = rows_.codes(place);
    counts_.resize(rows_.arity(place));
    std::int64_t sum = cells.settled.sum(f);
    for (std::size_t c = 0; c < cells.n_cells(); ++c) {
        std::fill(counts_.begin(), counts_.end(), 0);
        for (std::uint32_t i = cells.begins[c]; i < cells.begins[c + 1]; ++i)
            counts_[codes[cells.rows[i]]] += rows_.weight(cells.rows[i]);
        for (std::uint64_t count : counts_) sum += f(count);
    }
    return sum;
}

std::int64_t RowCounter::sum(const RowCells& cells, const CountTable& f) const {
    std::int64_t sum = cells.settled.sum(f);
    for (std::size_t c = 0; c < cells.n_cells(); ++c) {
        std::uint64_t count = 0;
        for (std::uint32_t i = cells.begins[c]; i < cells.begins[c + 1]; ++i) count += rows_.weight(cells.rows[i]);
        sum += f(count);
    }
    return sum;
}

std::uint32_t RowCounter::add_cell(RowCells& to, std::uint32_t end, const std::uint32_t* first, std::uint32_t size) {
    if (size == 0) return end;
    if (size == 1) {
        to.settled.add(rows_.weight(first[0]));
        return end;
    }
    std::copy(first, first + size, to.rows.begin() + end);
    to.begins.push_back(end + size);
    return end + size;
}

// ---- Unweighted rows

namespace {

// Bit j of word i becomes bit i of word j, by exchanging ever smaller squares of bits.
template <int half>
[[gnu::always_inline]] inline void exchange_squares(std::uint64_t* words) {
    constexpr std::uint64_t low = ~std::uint64_t{0} / ((std::uint64_t{1} << half) + 1);
    for (int begin = 0; begin < 64; begin += 2 * half)
        for (int i = begin; i < begin + half; ++i) {
            const std::uint64_t moved = (words[i] >> half ^ words[i + half]) & low;
            words[i] ^= moved << half;
            words[i + half] ^= moved;
        }
}

TOPDAG_SIMD void transpose(std::uint64_t* words) {
    exchange_squares<32>(words);
    exchange_squares<16>(words);
    exchange_squares<8>(words);
    exchange_squares<4>(words);
    exchange_squares<2>(words);
    exchange_squares<1>(words);
}

// Bits of the codes of 64 rows: by bit, then by place.
using Planes = std::uint64_t[most_bits][64];

// The rows that have a state, by the bits of their codes.
std::uint64_t with_state(const Planes& planes, int place, int n_planes, int state) {
    std::uint64_t word = ~std::uint64_t{0};
    for (int k = 0; k < n_planes; ++k) word &= state >> k & 1 ? planes[k][place] : ~planes[k][place];
    return word;
}

// A variable that splits cells: the words of each of its states from 1 on.
struct Splitting {
    const std::uint64_t* states;
    std::size_t stride;
    int arity;
};

// Sums f over the parts of one cell. `fixed`: the variable's arity where the compiler is to know it, so that the counts of
// all states grow side by side; else 0.
template <int fixed>
[[gnu::always_inline]] inline std::int64_t sum_of_parts(const BitCells& cells, const BitCells::Cell& cell,
                                                        const Splitting& by, const std::int64_t* f) {
    const std::uint64_t* own = cells.bits.data() + cell.at;
    const std::uint64_t* states = by.states + cell.first_word;
    std::uint32_t rest = cell.count;
    std::int64_t sum = 0;
    if constexpr (fixed > 0) {
        std::uint32_t counts[fixed - 1] = {};
        for (std::uint32_t w = 0; w < cell.n_words; ++w)
            for (int s = 0; s < fixed - 1; ++s)
                counts[s] += static_cast<std::uint32_t>(__builtin_popcountll(own[w] & states[static_cast<std::size_t>(s) * by.stride + w]));
        for (std::uint32_t count : counts) {
            sum += f[count];
            rest -= count;
        }
    } else {
        for (int s = 1; s < by.arity; ++s, states += by.stride) {
            std::uint32_t count = 0;
            for (std::uint32_t w = 0; w < cell.n_words; ++w)
                count += static_cast<std::uint32_t>(__builtin_popcountll(own[w] & states[w]));
            sum += f[count];
            rest -= count;
        }
    }
    return sum + f[rest];
}

// Calls run<arity>() for the frequent arities, run<0>() for others.
template <class Run>
[[gnu::always_inline]] inline auto with_fixed(int arity, Run&& run) {
    switch (arity) {
        case 2: return run.template operator()<2>();
        case 3: return run.template operator()<3>();
        case 4: return run.template operator()<4>();
        case 5: return run.template operator()<5>();
        case 6: return run.template operator()<6>();
        case 7: return run.template operator()<7>();
        default: return run.template operator()<0>();
    }
}

// Sums f over the parts of all cells.
TOPDAG_SIMD std::int64_t sum_of_parts(const BitCells& cells, const Splitting& by, const std::int64_t* f) {
    return with_fixed(by.arity, [&]<int fixed>() __attribute__((always_inline)) {
        std::int64_t sum = 0;
        for (const BitCells::Cell& cell : cells.cells) sum += sum_of_parts<fixed>(cells, cell, by, f);
        return sum;
    });
}

// As above from the sum over the cells themselves down, until it is below `least`.
TOPDAG_SIMD std::int64_t sum_down_to(std::int64_t least, std::int64_t whole, const BitCells& cells, const Splitting& by,
                                     const std::int64_t* f) {
    return with_fixed(by.arity, [&]<int fixed>() __attribute__((always_inline)) {
        std::int64_t sum = whole;
        for (const BitCells::Cell& cell : cells.cells) {
            if (sum < least) break;
            sum += sum_of_parts<fixed>(cells, cell, by, f) - f[cell.count];
        }
        return sum;
    });
}

// For cells of one word each, and two states: the most frequent case.
TOPDAG_SIMD std::int64_t sum_of_halves(const BitCells& cells, const std::uint64_t* state, const std::int64_t* f) {
    std::int64_t sum = 0;
    const std::uint64_t* bits = cells.bits.data();
    for (const BitCells::Cell& cell : cells.cells) {
        const std::uint64_t part = bits[cell.at] & state[cell.first_word];
        const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcountll(part));
        sum += f[count] + f[cell.count - count];
    }
    return sum;
}

// Takes so many words as a cell of so many rows; cells of one row are settled.
[[gnu::always_inline]] inline void add_cell(BitCells& to, std::size_t at, std::uint32_t first_word, std::uint32_t n_words,
                                            std::uint32_t count) {
    to.settled.light[1] += count == 1;
    if (count < 2) return;
    const std::uint64_t* words = to.bits.data() + at;
    std::uint32_t begin = 0, end = n_words;
    while (words[begin] == 0) ++begin;
    while (words[end - 1] == 0) --end;
    to.cells.push_back({first_word + begin, end - begin, count, at + begin});
    to.one_word_each &= end - begin == 1;
}

// Splits one cell into parts that stand one after the other from `at` on, the one of state 0 last.
template <int fixed>
[[gnu::always_inline]] inline void split_cell(const BitCells& from, const BitCells::Cell& cell, const Splitting& by,
                                              std::size_t at, std::uint32_t* counts, BitCells& to) {
    const int last = (fixed > 0 ? fixed : by.arity) - 1;
    const std::uint64_t* own = from.bits.data() + cell.at;
    const std::uint64_t* states = by.states + cell.first_word;
    std::uint64_t* parts = to.bits.data() + at;
    std::fill(counts, counts + last, 0);
    for (std::uint32_t w = 0; w < cell.n_words; ++w) {
        std::uint64_t rest = own[w];
        for (int s = 0; s < last; ++s) {
            const std::uint64_t part = own[w] & states[static_cast<std::size_t>(s) * by.stride + w];
            parts[static_cast<std::size_t>(s) * cell.n_words + w] = part;
            counts[s] += static_cast<std::uint32_t>(__builtin_popcountll(part));
            rest ^= part;
        }
        parts[static_cast<std::size_t>(last) * cell.n_words + w] = rest;
    }
    counts[last] = std::accumulate(counts, counts + last, cell.count, std::minus<>());
    for (int s = 0; s <= last; ++s)
        add_cell(to, at + static_cast<std::size_t>(s) * cell.n_words, cell.first_word, cell.n_words, counts[s]);
}

// Splits all cells.
TOPDAG_SIMD void split_cells(const BitCells& from, const Splitting& by, std::vector<std::uint32_t>& counts, BitCells& to) {
    std::size_t n_words = 0;
    for (const BitCells::Cell& cell : from.cells) n_words += cell.n_words;
    const std::size_t arity = static_cast<std::size_t>(by.arity);
    if (to.bits.size() < n_words * arity) to.bits.resize(n_words * arity);
    counts.resize(arity);
    to.cells.clear();
    to.one_word_each = true;
    with_fixed(by.arity, [&]<int fixed>() __attribute__((always_inline)) {
        std::size_t at = 0;
        for (const BitCells::Cell& cell : from.cells) {
            split_cell<fixed>(from, cell, by, at, counts.data(), to);
            at += cell.n_words * arity;
        }
    });
}

// As above for cells of one word each, and two states.
TOPDAG_SIMD void halve_cells(const BitCells& from, const std::uint64_t* state, BitCells& to) {
    if (to.bits.size() < 2 * from.cells.size()) to.bits.resize(2 * from.cells.size());
    to.cells.resize(2 * from.cells.size());
    std::size_t n_cells = 0;
    std::uint64_t singles = 0;
    for (const BitCells::Cell& cell : from.cells) {
        const std::uint64_t own = from.bits[cell.at];
        const std::uint64_t part = own & state[cell.first_word];
        const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcountll(part));
        const std::uint32_t left = cell.count - count;
        singles += (count == 1) + (left == 1);
        to.bits[n_cells] = part;
        to.cells[n_cells] = {cell.first_word, 1, count, n_cells};
        n_cells += count > 1;
        to.bits[n_cells] = own & ~part;
        to.cells[n_cells] = {cell.first_word, 1, left, n_cells};
        n_cells += left > 1;
    }
    to.cells.resize(n_cells);
    to.settled.light[1] += singles;
    to.one_word_each = true;
}

}  // namespace

void BitCounter::begin(BitCells& all) {
    const std::uint32_t n_units = static_cast<std::uint32_t>(rows_.n_units());
    all.own_frame.row_at.resize(n_units);
    std::iota(all.own_frame.row_at.begin(), all.own_frame.row_at.end(), 0);
    fill_states(all.own_frame, rows_.n_variables());
    all.frame = &all.own_frame;
    all.bits.assign(rows_.words(), ~std::uint64_t{0});
    if (n_units % 64 != 0) all.bits[rows_.words() - 1] = (std::uint64_t{1} << n_units % 64) - 1;
    all.cells = {{0, static_cast<std::uint32_t>(rows_.words()), n_units, 0}};
}

void BitCounter::refine(const BitCells& from, int place, BitCells& to) {
    const Frame& frame = *from.frame;
    to.frame = &frame;
    to.settled = from.settled;
    const std::uint64_t* states = frame.states[place].data();
    if (from.one_word_each && rows_.arity(place) == 2) return halve_cells(from, states, to);
    split_cells(from, {states, frame.words, rows_.arity(place)}, counts_, to);
}

std::int64_t BitCounter::split(const BitCells& cells, int place, const CountTable& f) {
    const Frame& frame = *cells.frame;
    const std::uint64_t* states = frame.states[place].data();
    const std::int64_t sum = cells.settled.sum(f);
    if (cells.one_word_each && rows_.arity(place) == 2) return sum + sum_of_halves(cells, states, f.values());
    return sum + sum_of_parts(cells, {states, frame.words, rows_.arity(place)}, f.values());
}

std::int64_t BitCounter::sum(const BitCells& cells, const CountTable& f) const {
    std::int64_t sum = cells.settled.sum(f);
    for (const BitCells::Cell& cell : cells.cells) sum += f.values()[cell.count];
    return sum;
}

std::int64_t BitCounter::split_down_to(std::int64_t least, std::int64_t whole, const BitCells& cells, int place,
                                       const CountTable& f) {
    const Frame& frame = *cells.frame;
    return sum_down_to(least, whole, cells, {frame.states[place].data(), frame.words, rows_.arity(place)}, f.values());
}

void BitCounter::settle_down(BitCells& cells, int n_places, std::size_t n_uses) {
    std::size_t words = 0, packed = 0, n_rows = 0;
    for (const BitCells::Cell& cell : cells.cells) {
        words += cell.n_words;
        packed += (cell.count + 63) / 64;
        n_rows += cell.count;
    }
    // Moving a row of one variable costs about as much as a word in counting, and larger sets have twice the words.
    if (2 * (words - packed) * n_uses < n_rows * static_cast<std::size_t>(n_places)) return;
    // Heavy cells first, which lose most when they are split; none takes more words than it must.
    std::sort(cells.cells.begin(), cells.cells.end(),
              [](const BitCells::Cell& a, const BitCells::Cell& b) { return a.count > b.count; });
    Frame& frame = cells.own_frame;
    frame.row_at.clear();
    moved_.assign(packed, 0);
    std::size_t at = 0;
    for (BitCells::Cell& cell : cells.cells) {
        const std::uint32_t n_words = (cell.count + 63) / 64;
        if (frame.row_at.size() % 64 + cell.count > n_words * 64)
            frame.row_at.resize((frame.row_at.size() + 63) / 64 * 64, static_cast<std::uint32_t>(rows_.n_units()));
        const std::size_t begin = frame.row_at.size();
        for (std::uint32_t w = 0; w < cell.n_words; ++w)
            for (std::uint64_t rest = cells.bits[cell.at + w]; rest != 0; rest &= rest - 1)
                frame.row_at.push_back(cells.frame->row_at[(cell.first_word + w) * 64 + std::countr_zero(rest)]);
        cell = {static_cast<std::uint32_t>(begin / 64), n_words, cell.count, at};
        at += n_words;
        std::fill(&moved_[cell.at], &moved_[cell.at] + n_words, ~std::uint64_t{0});
        moved_[cell.at] <<= begin % 64;
        if (const std::size_t beyond = frame.row_at.size() % 64; beyond > 0) moved_[at - 1] &= (std::uint64_t{1} << beyond) - 1;
    }
    cells.bits.swap(moved_);
    fill_states(frame, n_places);
    cells.frame = &frame;
    cells.one_word_each = packed == cells.cells.size();
}

void BitCounter::fill_states(Frame& frame, int n_places) {
    frame.words = (frame.row_at.size() + 63) / 64;
    frame.states.resize(rows_.n_variables());
    for (int place = 0; place < n_places; ++place) {
        frame.states[place].assign(frame.words * static_cast<std::size_t>(rows_.arity(place) - 1), 0);
        if (rows_.arity(place) > 1 << most_bits) fill_many_states(frame, place);
    }
    for (int block = 0; block * 64 < n_places; ++block) fill_few_states(frame, block, std::min(64, n_places - block * 64));
}

void BitCounter::fill_few_states(Frame& frame, int block, int n_places) {
    Planes planes;
    for (std::size_t w = 0; w < frame.words; ++w) {
        for (std::size_t bit = 0; bit < 64; ++bit) {
            const std::size_t at = w * 64 + bit;
            const std::size_t row = at < frame.row_at.size() ? frame.row_at[at] : rows_.n_units();  // which has code 0
            const std::uint64_t* bits = rows_.bits_of(static_cast<std::uint32_t>(row), block);
            for (int k = 0; k < rows_.n_bits(); ++k) planes[k][bit] = bits[k];
        }
        for (int k = 0; k < rows_.n_bits(); ++k) transpose(planes[k]);
        for (int i = 0; i < n_places; ++i) {
            const int place = block * 64 + i, arity = rows_.arity(place);
            for (int s = 1; s < arity && arity <= 1 << most_bits; ++s)
                frame.states[place][static_cast<std::size_t>(s - 1) * frame.words + w] = with_state(planes, i, bits_for(arity), s);
        }
    }
}

void BitCounter::fill_many_states(Frame& frame, int place) {
    for (std::size_t bit = 0; bit < frame.row_at.size(); ++bit) {
        const std::uint16_t code = rows_.codes(place)[frame.row_at[bit]];
        if (code > 0)
            frame.states[place][static_cast<std::size_t>(code - 1) * frame.words + bit / 64] |= std::uint64_t{1} << bit % 64;
    }
}

}  // namespace topdag
