#include "averages/summed_orders.h"

#include <algorithm>

#include "base/parallel.h"

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

}  // namespace

// Sets in blocks with the same high variables; blocks with equally many do not need each other.
template <class SumAt>
bool SummedOrders::fill_in_layers(bool from_empty, Limits& limits, SumAt&& sum_at) {
    const int n = n_variables(), low = std::min(n, block_bits);
    limits.begin(Phase::summing, n_sets(n - low));
    parallel_by_size(n - low, from_empty, limits, [&](VarSet block, int) {
        const VarSet base = block << low, last = n_sets(low) - 1;
        for (VarSet set = 0; set <= last; ++set) sum_at(base | (from_empty ? set : last - set));
        ++limits.done;
    });
    return !limits.stop.load();
}

ScaledTable<double> SummedOrders::order_weights(int v) const {
    const std::size_t size = n_sets(n_variables() - 1);
    ScaledTable<double> weights(size);
    const double* logs = log_weights_ == nullptr ? nullptr : log_weights_ + static_cast<std::size_t>(v) * size;
    for (std::size_t slot = 0; slot < size; ++slot) {
        const Weight weight = logs == nullptr ? Weight{1.0, 0} : weight_of(logs[slot]);
        weights.mantissas[slot] = weight.mantissa;
        weights.exponents[slot] = weight.exponent;
    }
    return weights;
}

bool SummedOrders::fill(Limits& limits) {
    const int n = n_variables();
    if (!steps_.fill(scores_, limits)) return false;
    if (log_weights_ != nullptr)
        parallel_for(n, limits, [&](std::size_t v, int) {
            steps_.multiply(static_cast<int>(v), order_weights(static_cast<int>(v)));
        });
    steps_.keep_to(scores_.precedence());
    before_ = ScaledTable<double>(n_sets(n));
    after_ = ScaledTable<double>(n_sets(n));
    const VarSet everything = all_of(n);
    const auto put = [](ScaledTable<double>& table, VarSet set, const Sum& sum) {
        table.mantissas[set] = sum.mantissa;
        table.exponents[set] = sum.exponent;
    };
    const bool forward = fill_in_layers(true, limits, [&](VarSet set) {
        Sum sum;
        if (set == 0) sum = {1.0, 0};
        for (VarSet rest = is_ideal(set) ? set : 0; rest != 0; rest &= rest - 1) {
            const int v = first_of(rest);
            const VarSet past = set & ~only(v);
            sum.add(before_.mantissas[past] * steps_.mantissa(v, past),
                    exponent_of_product(before_.exponents[past], steps_.exponent(v, past)));
        }
        put(before_, set, sum);
    });
    return forward && fill_in_layers(false, limits, [&](VarSet set) {
        Sum sum;
        if (set == everything) sum = {1.0, 0};
        for (VarSet rest = is_ideal(set) ? everything & ~set : 0; rest != 0; rest &= rest - 1) {
            const int v = first_of(rest);
            const VarSet next = set | only(v);
            sum.add(after_.mantissas[next] * steps_.mantissa(v, set),
                    exponent_of_product(after_.exponents[next], steps_.exponent(v, set)));
        }
        put(after_, set, sum);
    });
}

}  // namespace topdag
