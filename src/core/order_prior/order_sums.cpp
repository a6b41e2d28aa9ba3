#include "order_prior/order_sums.h"

#include <algorithm>
#include <cmath>

#include "base/exp_of.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "base/slot_runs.h"
#include "lattice/sweeps.h"
#include "order_prior/closed_sets.h"

namespace topdag {

namespace {

constexpr int block_bits = 12;  // R and B are filled in blocks of 2^12 sets
constexpr int row_bits = 10;    // steps are made and shared out in rows of 2^10 slots
constexpr int lane_bits = 3;

TOPDAG_SIMD void fill_steps(const double* best, const double* before, const double* after, const double* weights,
                            std::size_t run, std::size_t count, double* out) {
    if (weights == nullptr)
        for_each_in_runs(run, count, [=](std::size_t slot, std::size_t set) __attribute__((always_inline)) {
            out[slot] = exp_of(best[slot] + (before[set] - after[set]));
        });
    else
        for_each_in_runs(run, count, [=](std::size_t slot, std::size_t set) __attribute__((always_inline)) {
            out[slot] = exp_of(best[slot] + weights[slot] + (before[set] - after[set]));
        });
}

TOPDAG_SIMD void add_shares(const double* forward, const double* backward, const double* steps, std::size_t run,
                            std::size_t count, double* out) {
    for_each_in_runs(run, count, [=](std::size_t slot, std::size_t set) __attribute__((always_inline)) {
        out[slot] += forward[set] * backward[set] * steps[slot];
    });
}

TOPDAG_SIMD void add_products(double* to, const double* a, const double* b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] += a[i] * b[i];
}

TOPDAG_SIMD void add(double* to, const double* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

// R inside a block: own[set] has what the variables outside add as last ones; now those inside.
TOPDAG_SIMD void sum_within(double* own, const double* const* steps, int bits) {
    const int lanes = std::min(bits, lane_bits);
    for (VarSet group = 0; group < n_sets(bits); group += n_sets(lanes)) {
        double* to = own + group;
        for (VarSet rest = group; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const double* from = own + (group & ~only(x));
            const double* step = steps[x] + without_bit(group & ~only(x), x);
            for (std::size_t lane = 0; lane < n_sets(lanes); ++lane) to[lane] += step[lane] * from[lane];
        }
        for (VarSet set = group + 1; set < group + n_sets(lanes); ++set)
            for (int x = 0; x < lanes; ++x)
                if (has(set, x)) own[set] += steps[x][without_bit(set & ~only(x), x)] * own[set & ~only(x)];
    }
}

TOPDAG_SIMD void sum_within_backward(double* own, const double* const* steps, int bits) {
    const int lanes = std::min(bits, lane_bits);
    for (VarSet group = n_sets(bits); group != 0;) {
        group -= n_sets(lanes);
        double* to = own + group;
        for (VarSet rest = (n_sets(bits) - 1) & ~group & ~(n_sets(lanes) - 1); rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const double* from = own + (group | only(x));
            const double* step = steps[x] + without_bit(group, x);
            for (std::size_t lane = 0; lane < n_sets(lanes); ++lane) to[lane] += step[lane] * from[lane];
        }
        for (VarSet set = group + n_sets(lanes); set-- > group;)
            for (int x = 0; x < lanes; ++x)
                if (!has(set, x)) own[set] += steps[x][without_bit(set, x)] * own[set | only(x)];
    }
}

// How the slots of x, cut into rows, fall onto the subsets of `among`.
struct Rows {
    Rows(int n, int x, VarSet among)
        : bits(std::min(n - 1, row_bits)), slots(n_sets(n - 1)), slot_mask(without_bit(among, x)),
          high(slot_mask >> bits), low_size(size_of(slot_mask & (n_sets(bits) - 1))), is_all(slot_mask == slots - 1) {
        const ClosedSets low(slot_mask & (n_sets(bits) - 1));
        for (std::size_t place = 0; place < width(); ++place) places.push_back(low.place(place));
    }
    std::size_t width() const { return n_sets(bits); }
    std::size_t n_rows() const { return slots >> bits; }
    std::size_t n_kinds() const { return n_sets(size_of(slot_mask >> bits)); }
    std::size_t kind(std::size_t row) const { return high.place(row); }

    int bits;
    std::size_t slots;
    VarSet slot_mask;
    ClosedSets high;
    int low_size;
    bool is_all;
    std::vector<std::size_t> places;  // by place in a row
};

}  // namespace

// Halves first, so that what fits in cache is finished there.
void sum_over_supersets(double* values, int bits) {
    if (bits == 0) return;
    const std::size_t half = n_sets(bits - 1);
    add(values, values + half, half);
    if (bits > cache_bits) {
        sum_over_supersets(values, bits - 1);
        sum_over_supersets(values + half, bits - 1);
        return;
    }
    for (std::size_t width = half >> 1; width > 0; width >>= 1)
        for (std::size_t base = 0; base < n_sets(bits); base += 2 * width)
            add(values + base, values + base + width, width);
}

OrderSums::OrderSums(int n, BigArray potential, std::vector<const double*> order_weights, Precedence precedence,
                     int threads)
    : n_(n), threads_(threads), potential_(std::move(potential)), forward_(n_sets(n)), backward_(n_sets(n)),
      order_weights_(std::move(order_weights)), precedence_(std::move(precedence)), scratch_(threads) {
    // A set that no order allows: no step leaves it, whatever its potential.
    for (std::size_t set = 0; set < n_sets(n); ++set)
        if (!std::isfinite(potential_[set])) potential_[set] = 0.0;
    order_weights_.resize(n, nullptr);
    for (int x = 0; x < n; ++x) steps_.emplace_back(n_sets(n - 1));
}

void OrderSums::choose(int x, const BestWithin& own, int worker) {
    const Rows rows(n_, x, own.among);
    const double* table = own.best;
    if (!rows.is_all) {
        if (scratch_[worker].size() == 0) scratch_[worker] = BigArray(rows.slots);
        double* wide = scratch_[worker].data();
        for (std::size_t kind = 0; kind < rows.n_kinds(); ++kind)
            for (std::size_t low = 0; low < rows.width(); ++low)
                wide[(kind << rows.bits) + low] = own.best[(kind << rows.low_size) + rows.places[low]];
        table = wide;
    }
    const std::size_t run = std::min<std::size_t>(rows.width(), only(x));
    for (std::size_t row = 0; row < rows.n_rows(); ++row) {
        const std::size_t begin = row << rows.bits;
        const VarSet set = with_gap(begin, x);
        const double* weights = order_weights_[x] == nullptr ? nullptr : order_weights_[x] + begin;
        fill_steps(table + (rows.kind(row) << rows.bits), &potential_[set], &potential_[set | only(x)],
                   weights, run, rows.width(), &steps_[x][begin]);
    }
    const VarSet wanted = without_bit(precedence_.before(x), x);
    for (VarSet slot = 0; wanted != 0 && slot < rows.slots; ++slot)
        if (!is_subset(wanted, slot)) steps_[x][slot] = 0.0;
}

void OrderSums::share_out(int x, VarSet among, double* shares, int worker) {
    const Rows rows(n_, x, among);
    if (!rows.is_all && scratch_[worker].size() == 0) scratch_[worker] = BigArray(rows.slots);
    double* wide = rows.is_all ? shares : scratch_[worker].data();
    std::fill(wide, wide + (rows.n_kinds() << rows.bits), 0.0);
    const std::size_t run = std::min<std::size_t>(rows.width(), only(x));
    for (std::size_t row = 0; row < rows.n_rows(); ++row) {
        const VarSet set = with_gap(row << rows.bits, x);
        add_shares(&forward_[set], &backward_[set | only(x)], &steps_[x][row << rows.bits], run, rows.width(),
                   wide + (rows.kind(row) << rows.bits));
    }
    if (rows.is_all) return;
    std::fill(shares, shares + n_sets(size_of(among)), 0.0);
    for (std::size_t kind = 0; kind < rows.n_kinds(); ++kind)
        for (std::size_t low = 0; low < rows.width(); ++low)
            shares[(kind << rows.low_size) + rows.places[low]] += wide[(kind << rows.bits) + low];
}

// Calls fill_block for all blocks of sets that share their high variables, layer by layer: those with fewer high
// variables first, or last. Blocks of one layer do not need each other, so threads share them.
template <class FillBlock>
bool OrderSums::fill_in_layers(bool from_empty, Limits& limits, FillBlock&& fill_block) {
    const int low = std::min(n_, block_bits);
    std::vector<std::vector<VarSet>> layers(n_ - low + 1);
    for (VarSet block = 0; block < n_sets(n_ - low); ++block) layers[size_of(block)].push_back(block);
    if (!from_empty) std::reverse(layers.begin(), layers.end());
    for (const std::vector<VarSet>& layer : layers)
        parallel_for(layer.size(), threads_, limits, [&](std::size_t i, int) { fill_block(layer[i]); });
    return !limits.stop.load();
}

bool OrderSums::sum_forward(Limits& limits) {
    return fill_in_layers(true, limits, [&](VarSet block) { forward_block(block); });
}

bool OrderSums::sum_backward(Limits& limits) {
    return fill_in_layers(false, limits, [&](VarSet block) { backward_block(block); });
}

std::vector<const double*> OrderSums::steps_within(VarSet base) const {
    std::vector<const double*> tables;
    for (int x = 0; x < std::min(n_, block_bits); ++x) tables.push_back(steps_[x].data() + without_bit(base, x));
    return tables;
}

void OrderSums::forward_block(VarSet block) {
    const int low = std::min(n_, block_bits);
    const VarSet base = block << low;
    double* own = &forward_[base];
    std::fill(own, own + n_sets(low), 0.0);
    if (block == 0) own[0] = 1.0;
    for (VarSet rest = base; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const VarSet before = base & ~only(x);
        add_products(own, &steps_[x][without_bit(before, x)], &forward_[before], n_sets(low));
    }
    sum_within(own, steps_within(base).data(), low);
}

void OrderSums::backward_block(VarSet block) {
    const int low = std::min(n_, block_bits);
    const VarSet base = block << low;
    const VarSet everything = n_sets(n_) - 1;
    double* own = &backward_[base];
    std::fill(own, own + n_sets(low), 0.0);
    if (base + n_sets(low) - 1 == everything) own[n_sets(low) - 1] = 1.0;
    for (VarSet rest = everything & ~base & ~(n_sets(low) - 1); rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        add_products(own, &steps_[x][without_bit(base, x)], &backward_[base | only(x)], n_sets(low));
    }
    sum_within_backward(own, steps_within(base).data(), low);
}

int OrderSums::likely_last(VarSet placed) const {
    int likely = first_of(placed);
    double most = -1.0;
    for (VarSet rest = placed; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const VarSet before = placed & ~only(x);
        const double share = forward_[before] * steps_[x][without_bit(before, x)];
        if (share > most) {
            most = share;
            likely = x;
        }
    }
    return likely;
}

}  // namespace topdag
