#include "order_prior/order_sums.h"

#include <algorithm>
#include <cmath>

#include "base/exp_of.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "base/slot_runs.h"
#include "lattice/order_tables.h"
#include "lattice/sweeps.h"
#include "order_prior/closed_sets.h"

namespace topdag {

namespace {

constexpr int row_bits = 10;    // steps are made and shared out in rows of 2^10 slots

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

TOPDAG_SIMD void add(double* to, const double* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

// What all orders weigh.
struct SumsOfProducts {
    static constexpr double none = 0.0, empty = 1.0;
    [[gnu::always_inline]] static double with(double to, double step, double from) { return to + step * from; }
    static void take_steps(double* to, const double* steps, const double* from, std::size_t count);
    static void order_within(double* own, const double* const* steps, int bits);
    static void order_within_backward(double* own, const double* const* steps, int bits);
};

TOPDAG_SIMD void SumsOfProducts::take_steps(double* to, const double* steps, const double* from, std::size_t count) {
    take_steps_in<SumsOfProducts>(to, steps, from, count);
}

TOPDAG_SIMD void SumsOfProducts::order_within(double* own, const double* const* steps, int bits) {
    order_within_in<SumsOfProducts>(own, steps, bits);
}

TOPDAG_SIMD void SumsOfProducts::order_within_backward(double* own, const double* const* steps, int bits) {
    order_within_backward_in<SumsOfProducts>(own, steps, bits);
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

void sum_over_supersets(double* values, int bits) { gather_supersets(values, bits, add); }

OrderSums::OrderSums(int n, BigArray potential, std::vector<const double*> order_weights, Precedence precedence,
                     int threads)
    : n_(n), potential_(std::move(potential)), forward_(n_sets(n)), backward_(n_sets(n)),
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

// Steps that the precedence does not allow are zero already.
bool OrderSums::sum_forward(Limits& limits) {
    return for_blocks_by_size(n_, true, limits, [&](VarSet block) {
        fill_block<SumsOfProducts>(steps_, Precedence(), block, forward_);
    });
}

bool OrderSums::sum_backward(Limits& limits) {
    return for_blocks_by_size(n_, false, limits, [&](VarSet block) {
        fill_block_backward<SumsOfProducts>(steps_, Precedence(), block, backward_);
    });
}

int OrderSums::likely_last(VarSet placed) const {
    int likely = first_of(placed);
    double most = -1.0;
    for (VarSet rest = placed; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const double weight = weight_of_last(x, placed);
        if (weight > most) {
            most = weight;
            likely = x;
        }
    }
    return likely;
}

int OrderSums::drawn_last(VarSet placed, double number) const {
    double left = number * forward_[placed];
    for (VarSet rest = placed; rest != 0; rest &= rest - 1)
        if ((left -= weight_of_last(first_of(rest), placed)) < 0.0) return first_of(rest);
    return likely_last(placed);  // by rounding
}

}  // namespace topdag
