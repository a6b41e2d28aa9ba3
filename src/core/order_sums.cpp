#include "order_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "order_ancestors.h"
#include "parallel.h"

namespace topdag {

namespace {

constexpr int block_bits = 12;

// A sum of scaled numbers, one by one.
struct Sum {
    double mantissa = 0.0;
    Exponent exponent = zero_exponent;

    void add(double more, Exponent more_exponent) {
        if (more_exponent > exponent) {
            mantissa *= power_of_two(exponent - more_exponent);
            exponent = more_exponent;
        }
        mantissa += more * power_of_two(more_exponent - exponent);
    }
};

Exponent exponent_of_product(Exponent a, Exponent b) {
    return a == zero_exponent || b == zero_exponent ? zero_exponent : a + b;
}

}  // namespace

// Sets in blocks with the same high variables; blocks with equally many do not need each other.
template <class SumAt>
bool OrderSums::fill_in_layers(bool from_empty, int threads, Limits& limits, SumAt&& sum_at) {
    const int n = n_variables(), low = std::min(n, block_bits);
    std::vector<std::vector<VarSet>> layers(n - low + 1);
    for (VarSet block = 0; block < n_sets(n - low); ++block) layers[size_of(block)].push_back(block);
    if (!from_empty) std::reverse(layers.begin(), layers.end());
    limits.begin(Phase::summing, n_sets(n - low));
    for (const std::vector<VarSet>& layer : layers)
        parallel_for(layer.size(), threads, limits, [&](std::size_t i, int) {
            const VarSet base = layer[i] << low, last = n_sets(low) - 1;
            for (VarSet set = 0; set <= last; ++set) sum_at(base | (from_empty ? set : last - set));
            ++limits.done;
        });
    return !limits.stop.load();
}

ScaledTable<double> OrderSums::order_weights(int v) const {
    const std::size_t size = n_sets(n_variables() - 1);
    ScaledTable<double> weights(size);
    for (std::size_t slot = 0; slot < size; ++slot) {
        const Split weight = weight_of(log_weights_ == nullptr ? 0.0 : log_weights_[static_cast<std::size_t>(v) * size + slot]);
        weights.mantissas[slot] = weight.mantissa;
        weights.exponents[slot] = weight.exponent;
    }
    return weights;
}

bool OrderSums::fill(int threads, Limits& limits) {
    const int n = n_variables();
    if (!steps_.fill(scores_, threads, limits)) return false;
    if (log_weights_ != nullptr)
        parallel_for(n, threads, limits, [&](std::size_t v, int) {
            steps_.multiply(static_cast<int>(v), order_weights(static_cast<int>(v)));
        });
    before_ = ScaledTable<double>(n_sets(n));
    after_ = ScaledTable<double>(n_sets(n));
    const VarSet everything = all_of(n);
    const auto put = [](ScaledTable<double>& table, VarSet set, const Sum& sum) {
        table.mantissas[set] = sum.mantissa;
        table.exponents[set] = sum.exponent;
    };
    const bool forward = fill_in_layers(true, threads, limits, [&](VarSet set) {
        Sum sum;
        if (set == 0) sum = {1.0, 0};
        for (VarSet rest = set; rest != 0; rest &= rest - 1) {
            const int v = first_of(rest);
            const VarSet past = set & ~only(v);
            sum.add(before_.mantissas[past] * steps_.mantissa(v, past),
                    exponent_of_product(before_.exponents[past], steps_.exponent(v, past)));
        }
        put(before_, set, sum);
    });
    return forward && fill_in_layers(false, threads, limits, [&](VarSet set) {
        Sum sum;
        if (set == everything) sum = {1.0, 0};
        for (VarSet rest = everything & ~set; rest != 0; rest &= rest - 1) {
            const int v = first_of(rest);
            const VarSet next = set | only(v);
            sum.add(after_.mantissas[next] * steps_.mantissa(v, set),
                    exponent_of_product(after_.exponents[next], steps_.exponent(v, set)));
        }
        put(after_, set, sum);
    });
}

namespace {

// alpha(U) q_v(U) beta(U + v) by slot.
ScaledTable<double> weights_of_places(const OrderSums& sums, int v) {
    ScaledTable<double> places = sums.order_weights(v);
    for (VarSet slot = 0; slot < places.size(); ++slot) {
        const VarSet past = with_gap(slot, v), next = past | only(v);
        const Exponent others = exponent_of_product(sums.before().exponents[past], sums.after().exponents[next]);
        places.mantissas[slot] *= sums.before().mantissas[past] * sums.after().mantissas[next];
        places.exponents[slot] = exponent_of_product(places.exponents[slot], others);
    }
    return places;
}

double take_variable(const OrderSums& sums, int v, bool keep_parent_sets, Posteriors& posteriors) {
    const int n = sums.n_variables();
    const VarSet everything = all_of(n);
    ScaledTable<double> places = weights_of_places(sums, v);
    BigArray own = parent_set_probabilities(sums.scores(), v, places, sums.before().mantissas[everything],
                                            sums.before().exponents[everything]);
    places = {};
    if (keep_parent_sets) {
        posteriors.parent_sets[v] = BigArray(own.size());
        std::copy(own.data(), own.data() + own.size(), posteriors.parent_sets[v].data());
        if (!clip(posteriors.parent_sets[v].data(), own.size())) return 1.0;
    }
    const Marginals parents = marginals(own, n - 1);
    take_edges(posteriors, v, n, parents);
    return std::abs(parents.total - 1.0);
}

}  // namespace

Posteriors sum_orders(const LocalScores& scores, OrderLogWeights log_weights, const OrderSumsWanted& wanted, int threads,
                      Limits& limits) {
    Posteriors posteriors;
    const int n = scores.n_variables();
    const VarSet everything = all_of(n);
    OrderSums sums(scores, log_weights);
    if (!sums.fill(threads, limits)) return posteriors;
    posteriors.log_total = as_log(sums.before().mantissas[everything], sums.before().exponents[everything]);
    if (sums.before().exponents[everything] == zero_exponent) {
        posteriors.log_total = -std::numeric_limits<double>::infinity();
        posteriors.finished = true;
        return posteriors;
    }
    if (wanted.paths) {
        posteriors.paths = order_ancestors(sums, threads, limits);
        if (limits.stop.load()) return {};
    }
    sums.free_steps();
    posteriors.defect = std::abs(std::expm1(as_log(sums.after().mantissas[0], sums.after().exponents[0]) - posteriors.log_total));
    if (wanted.posteriors) {
        posteriors.edges.assign(static_cast<std::size_t>(n) * n, 0.0);
        posteriors.parent_sets.resize(n);
        std::vector<double> defects(n);
        limits.begin(Phase::summing, n);
        parallel_for(n, threads, limits, [&](std::size_t v, int) {
            defects[v] = take_variable(sums, static_cast<int>(v), has(wanted.parent_sets, static_cast<int>(v)), posteriors);
            ++limits.done;
        });
        if (limits.stop.load()) return {};
        for (double defect : defects) posteriors.defect = std::max(posteriors.defect, defect);
        if (!clip(posteriors.edges.data(), posteriors.edges.size()) || !clip(posteriors.paths.data(), posteriors.paths.size()))
            posteriors.defect = 1.0;
    }
    posteriors.finished = true;
    return posteriors;
}

double order_sums_bytes(int n, const OrderSumsWanted& wanted, int threads) {
    const double sets = static_cast<double>(n_sets(n)), families = n * static_cast<double>(n_sets(n - 1));
    const double stepping = 12 * families, reading = threads * 16 * sets;
    const double descending = wanted.paths ? order_ancestors_bytes(n, threads) : 0.0;
    const double at_once = std::max(stepping + descending, wanted.posteriors ? reading : 0.0);
    return 24 * sets + at_once + size_of(wanted.parent_sets) * sets * 4;
}

}  // namespace topdag
