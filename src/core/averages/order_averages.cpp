#include "averages/order_averages.h"

#include <algorithm>
#include <cmath>

#include "averages/order_ancestors.h"
#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

namespace {

// alpha(U) q_v(U) beta(U + v) by slot.
ScaledTable<double> weights_of_places(const SummedOrders& sums, int v) {
    ScaledTable<double> places = sums.order_weights(v);
    for (VarSet slot = 0; slot < places.size(); ++slot) {
        const VarSet past = with_gap(slot, v), next = past | only(v);
        const Exponent others = exponent_of_product(sums.before().exponents[past], sums.after().exponents[next]);
        places.mantissas[slot] *= sums.before().mantissas[past] * sums.after().mantissas[next];
        places.exponents[slot] = exponent_of_product(places.exponents[slot], others);
    }
    return places;
}

double take_variable(const SummedOrders& sums, int v, bool keep_parent_sets, Posteriors& posteriors) {
    const int n = sums.n_variables();
    const VarSet everything = all_of(n);
    ScaledTable<double> places = weights_of_places(sums, v);
    BigArray own = parent_set_probabilities(sums.scores(), v, places, sums.before().mantissas[everything],
                                            sums.before().exponents[everything]);
    places = {};
    return take_parent_sets(posteriors, v, n, own, keep_parent_sets);
}

}  // namespace

Posteriors sum_orders(const LocalScores& scores, OrderLogWeights log_weights, const OrderSumsWanted& wanted,
                      Limits& limits) {
    Posteriors posteriors;
    const int n = scores.n_variables();
    const VarSet everything = all_of(n);
    SummedOrders sums(scores, log_weights);
    if (!sums.fill(limits)) return posteriors;
    posteriors.log_total = as_log(sums.before().mantissas[everything], sums.before().exponents[everything]);
    if (sums.before().exponents[everything] == zero_exponent) {
        posteriors.log_total = minus_infinity;
        posteriors.finished = true;
        return posteriors;
    }
    if (wanted.paths) {
        posteriors.paths = order_ancestors(sums, limits);
        if (limits.stop.load()) return {};
    }
    sums.free_steps();
    const double from_behind = as_log(sums.after().mantissas[0], sums.after().exponents[0]);
    posteriors.defect = std::abs(std::expm1(from_behind - posteriors.log_total));
    if (wanted.posteriors) {
        posteriors.edges.assign(static_cast<std::size_t>(n) * n, 0.0);
        posteriors.parent_sets.resize(n);
        std::vector<double> defects(n);
        limits.begin(Phase::summing, n);
        parallel_for(n, limits, [&](std::size_t place, int) {
            const auto v = static_cast<int>(place);
            defects[place] = take_variable(sums, v, has(wanted.parent_sets, v), posteriors);
            ++limits.done;
        });
        if (limits.stop.load()) return {};
        for (double defect : defects) posteriors.defect = std::max(posteriors.defect, defect);
        clip_pairs(posteriors);
    }
    posteriors.finished = true;
    return posteriors;
}

double order_sums_bytes(int n, const OrderSumsWanted& wanted, int threads) {
    const double sets = many_sets(n), families = n * many_sets(n - 1);
    const double stepping = 12 * families, reading = threads * 16 * sets;
    const double descending = wanted.paths ? order_ancestors_bytes(n, threads) : 0.0;
    const double at_once = std::max(stepping + descending, wanted.posteriors ? reading : 0.0);
    return 24 * sets + at_once + size_of(wanted.parent_sets) * sets * 4;
}

}  // namespace topdag
