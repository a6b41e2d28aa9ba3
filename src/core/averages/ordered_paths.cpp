#include "averages/ordered_paths.h"

#include <cmath>

#include "averages/family_weights.h"
#include "averages/prefix_sums.h"
#include "base/parallel.h"

namespace topdag {

namespace {

// A number of any size.
struct Factor {
    long double mantissa = 1.0L;
    Exponent exponent = 0;

    bool is_zero() const { return exponent == zero_exponent || mantissa == 0.0L; }
};

Factor product(const Factor& a, const Factor& b) { return {a.mantissa * b.mantissa, a.exponent + b.exponent}; }

struct Weights {
    const Precedence& precedence;
    const FamilyWeights<double>& within;   // z
    const PrefixSums<double>& prefixes;    // alpha, under the precedence

    Factor of(int v, VarSet set) const { return {within.mantissa(v, set), within.exponent(v, set)}; }
    // z_v(all) - z_v(some)
    Factor between(int v, VarSet all, VarSet some) const {
        const Factor more = of(v, all), less = of(v, some);
        if (more.is_zero()) return more;
        const double step = less.is_zero() ? 0.0 : power_of_two(less.exponent - more.exponent);
        const long double left = more.mantissa - less.mantissa * step;
        return {left > 0.0L ? left : 0.0L, more.exponent};
    }
};

class DescentFrom {
public:
    DescentFrom(const Weights& weights, int s)
        : weights_(weights), n_(weights.within.n_variables()), s_(s), power_(n_, 0) {
        std::size_t size = 1;
        for (int v = 0; v < n_; ++v)
            if (v != s) power_[v] = std::exchange(size, 3 * size);
        values_.assign(size, 0.0L);
    }

    // Calls take(D, probability) for all D; false when a limit stopped it.
    template <class Take>
    bool run(Limits& limits, Take&& take) {
        const VarSet everything = all_of(n_);
        for (VarSet placed = 0; placed < everything; ++placed) {
            if (Limits::looks_at(placed, 64) && limits.reached()) return false;
            if (weights_.prefixes.exponent(placed) == zero_exponent) continue;
            if (has(placed, s_)) continue_from(placed);
            else start_from(placed);
        }
        const long double total = weights_.prefixes.mantissa(everything);
        for_each_descent(everything, [&](VarSet descendants, std::size_t place) {
            take(descendants, static_cast<double>(values_[place] / total));
        });
        return true;
    }

private:
    struct Step { int v; Factor beside, below; };

    // Calls visit(D, place of the state) for all D that hold s.
    template <class Visit>
    void for_each_descent(VarSet placed, Visit&& visit) const {
        const VarSet others = placed & ~only(s_);
        std::size_t all_beside = 0;
        for (VarSet rest = others; rest != 0; rest &= rest - 1) all_beside += power_[first_of(rest)];
        for (VarSet below = others;; below = (below - 1) & others) {
            std::size_t place = all_beside;
            for (VarSet rest = below; rest != 0; rest &= rest - 1) place += power_[first_of(rest)];
            visit(below | only(s_), place);
            if (below == 0) return;
        }
    }

    // s joins, with others beside it.
    void start_from(VarSet placed) {
        if (!weights_.precedence.can_follow(s_, placed)) return;
        const Factor own = weights_.of(s_, placed);
        if (own.is_zero()) return;
        std::vector<Step> steps;
        const VarSet open = weights_.precedence.open(all_of(n_) & ~placed & ~only(s_), placed);
        for (VarSet rest = open; rest != 0; rest &= rest - 1)
            steps.push_back({first_of(rest), weights_.of(first_of(rest), placed), {0.0L, zero_exponent}});
        std::size_t place = 0;
        for (VarSet rest = placed; rest != 0; rest &= rest - 1) place += power_[first_of(rest)];
        const Factor begun{weights_.prefixes.mantissa(placed), weights_.prefixes.exponent(placed)};
        const Factor value = product(begun, own);
        add(place, placed | only(s_), value);
        spread(steps, 0, place, placed | only(s_), {-value.mantissa, value.exponent});
    }

    void continue_from(VarSet placed) {
        const VarSet open = weights_.precedence.open(all_of(n_) & ~placed, placed);
        std::vector<Step> steps;
        for_each_descent(placed, [&](VarSet descendants, std::size_t place) {
            if (values_[place] == 0.0L) return;
            const VarSet beside = placed & ~descendants;
            steps.clear();
            for (VarSet rest = open; rest != 0; rest &= rest - 1) {
                const int v = first_of(rest);
                steps.push_back({v, weights_.of(v, beside), weights_.between(v, placed, beside)});
            }
            spread(steps, 0, place, placed, {values_[place], weights_.prefixes.exponent(placed)});
        });
    }

    // Adds the value, with the sign of how many joined, to all states that some of the steps lead to.
    void spread(const std::vector<Step>& steps, std::size_t next, std::size_t place, VarSet placed,
                const Factor& value) {
        for (std::size_t i = next; i < steps.size(); ++i) {
            const Step& step = steps[i];
            const VarSet larger = placed | only(step.v);
            for (const auto& [joins, factor] : {std::pair(1, &step.beside), std::pair(2, &step.below)}) {
                if (factor->is_zero()) continue;
                const Factor grown = product(value, *factor);
                const std::size_t there = place + joins * power_[step.v];
                add(there, larger, grown);
                spread(steps, i + 1, there, larger, {-grown.mantissa, grown.exponent});
            }
        }
    }

    void add(std::size_t place, VarSet placed, const Factor& value) {
        values_[place] += value.mantissa * power_of_two(value.exponent - weights_.prefixes.exponent(placed));
    }

    const Weights& weights_;
    int n_, s_;
    std::vector<std::size_t> power_;      // by variable: of three, none for s
    std::vector<long double> values_;     // g by digits: not placed, in N, in D; relative to the exponent of alpha(U)
};

}  // namespace

OrderedPaths ordered_paths(const LocalScores& scores, Limits& limits) {
    OrderedPaths found;
    const int n = scores.n_variables();
    FamilyWeights<double> within, kept;
    if (!within.fill(scores, limits) || !kept.fill(scores, limits)) return found;
    kept.keep_to(scores.precedence());
    PrefixSums<double> prefixes(kept, scores.precedence(), limits.threads);
    if (!prefixes.fill(limits)) return found;
    const Weights weights{scores.precedence(), within, prefixes};
    found.paths.assign(static_cast<std::size_t>(n) * n, 0.0);
    std::vector<double> defects(n, 0.0);
    limits.begin(Phase::summing, n);
    parallel_for(n, limits, [&](std::size_t s, int) {
        double sum = 0.0;
        DescentFrom(weights, static_cast<int>(s)).run(limits, [&](VarSet descendants, double probability) {
            sum += probability;
            for (VarSet rest = descendants & ~only(static_cast<int>(s)); rest != 0; rest &= rest - 1)
                found.paths[s * n + first_of(rest)] += probability;
        });
        defects[s] = std::abs(sum - 1.0);
        ++limits.done;
    });
    if (limits.stop.load()) return {};
    for (double defect : defects) found.defect = std::max(found.defect, defect);
    found.finished = true;
    return found;
}

double ordered_paths_bytes(int n, int threads) {
    return 24.0 * n * many_sets(n - 1) + 24.0 * many_sets(n) +
           threads * sizeof(long double) * std::pow(3.0, n - 1);
}

}  // namespace topdag
