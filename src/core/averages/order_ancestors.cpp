#include "averages/order_ancestors.h"

#include <cmath>

#include "base/parallel.h"

namespace topdag {

namespace {

// What stays the same for all s.
struct Joining {
    const SummedOrders& sums;
    FamilyWeights<double> within;                  // z
    std::vector<ScaledTable<double>> order_weights;  // q

    // q_v(placed) z_v(parents), relative to how alpha grows from `placed` to `placed` and v.
    double weight(int v, VarSet parents, VarSet placed) const {
        const VarSet slot = without_bit(placed, v);
        const Exponent own = within.exponent(v, parents), before = sums.before().exponents[placed];
        if (own == zero_exponent || before == zero_exponent) return 0.0;
        const Exponent after = sums.before().exponents[placed | only(v)];
        if (after == zero_exponent) return 0.0;  // no order goes on like this
        const Exponent exponent = order_weights[v].exponents[slot] + own + before - after;
        return order_weights[v].mantissas[slot] * within.mantissa(v, parents) * power_of_two(exponent);
    }
};

class Descent {
public:
    Descent(const Joining& joining, int s) : joining_(joining), n_(joining.sums.n_variables()), s_(s) {
        std::size_t total = 0;
        for (VarSet slot = 0; slot < n_sets(n_ - 1); ++slot) {
            offsets_.push_back(total);
            total += n_sets(n_ - 1 - size_of(slot));
        }
        values_ = BigArray(total);
    }

    // P(just D descends from s) for all D, given to take(D, probability). Stops early at a limit.
    template <class Take>
    void run(Limits& limits, Take&& take) {
        const VarSet everything = all_of(n_);
        const double total = joining_.sums.before().mantissas[everything];
        for (VarSet slot = 0; slot < n_sets(n_ - 1) && !limits.reached(); ++slot) {
            const VarSet descendants = with_gap(slot, s_) | only(s_);
            fill(slot, descendants);
            take(descendants, values_[offsets_[slot] + n_sets(n_ - size_of(descendants)) - 1] / total);
        }
    }

private:
    void fill(VarSet slot, VarSet descendants);
    double sum_at(VarSet slot, VarSet descendants, VarSet place, VarSet others) const;

    const Joining& joining_;
    int n_, s_;
    std::vector<std::size_t> offsets_;  // by D without s, as slots
    BigArray values_;                   // g by D, then by N as a subset of the variables outside D
};

// g(., D), by growing N.
void Descent::fill(VarSet slot, VarSet descendants) {
    const VarSet free = all_of(n_) & ~descendants;
    VarSet others = 0;
    for (VarSet place = 0; place < n_sets(size_of(free)); ++place, others = (others - free) & free)
        values_[offsets_[slot] + place] = sum_at(slot, descendants, place, others);
}

double Descent::sum_at(VarSet slot, VarSet descendants, VarSet place, VarSet others) const {
    const VarSet placed = others | descendants;
    double sum = 0.0;
    if (slot == 0) sum = joining_.sums.before().mantissas[others] * joining_.weight(s_, others, others);
    VarSet bits = place;
    for (VarSet rest = others; rest != 0; rest &= rest - 1, bits &= bits - 1) {  // v came last, and does not descend
        const int v = first_of(rest);
        const VarSet bit = bits & -bits;
        sum += values_[offsets_[slot] + (place ^ bit)] * joining_.weight(v, others & ~only(v), placed & ~only(v));
    }
    for (VarSet rest = descendants & ~only(s_); rest != 0; rest &= rest - 1) {  // v came last, and descends
        const int v = first_of(rest);
        const VarSet before = placed & ~only(v);
        const int gap = size_of(all_of(n_) & ~descendants & (only(v) - 1));
        const double weight = joining_.weight(v, before, before) - joining_.weight(v, others, before);
        sum += values_[offsets_[slot & ~only(v < s_ ? v : v - 1)] + with_gap(place, gap)] * weight;
    }
    return without_dust(sum);
}

}  // namespace

std::vector<double> order_ancestors(const SummedOrders& sums, Limits& limits) {
    const int n = sums.n_variables();
    Joining joining{sums, {}, {}};
    if (!joining.within.fill(sums.scores(), limits)) return {};
    for (int v = 0; v < n; ++v) joining.order_weights.push_back(sums.order_weights(v));
    std::vector<double> paths(static_cast<std::size_t>(n) * n, 0.0);
    limits.begin(Phase::summing, n);
    parallel_for(n, limits, [&](std::size_t s, int) {
        Descent(joining, static_cast<int>(s)).run(limits, [&](VarSet descendants, double probability) {
            for (VarSet rest = descendants & ~only(static_cast<int>(s)); rest != 0; rest &= rest - 1)
                paths[s * n + first_of(rest)] += probability;
        });
        ++limits.done;
    });
    if (limits.stop.load()) return {};
    return paths;
}

double order_ancestors_bytes(int n, int threads) {
    const double sets = many_sets(n - 1);
    return 24.0 * n * sets + threads * (8 * std::pow(3.0, n - 1) + 8 * sets);
}

}  // namespace topdag
