#include "sampling/next_layers.h"

#include <algorithm>
#include <limits>

#include "base/simd.h"
#include "sampling/layer_terms.h"

namespace topdag {

namespace {

constexpr double tiny_share = 0x1p-44;  // ways below this share of all are not told from none by a difference
constexpr double epsilon = std::numeric_limits<double>::epsilon();

// In place: values(M) becomes the sum over K in M of values(M - K) product over K of -factor.
template <class Real>
inline void subtract_subsets(Real* values, std::size_t size, const Real* factors) {
    for (std::size_t half = 1, v = 0; half < size; half <<= 1, ++v)
        for (std::size_t base = 0; base < size; base += 2 * half)
            for (std::size_t i = base; i < base + half; ++i) values[i + half] -= factors[v] * values[i];
}

TOPDAG_SIMD void subtract_subsets_of_doubles(double* values, std::size_t size, const double* factors) {
    for (std::size_t half = 1, v = 0; half < size; half <<= 1, ++v) {
        const double factor = factors[v];
        for (std::size_t base = 0; base < size; base += 2 * half) {
            double* lower = values + base;
            double* upper = lower + half;
            for (std::size_t i = 0; i < half; ++i) upper[i] -= factor * lower[i];
        }
    }
}

}  // namespace

std::size_t NextLayers::index_of(VarSet set) const {
    std::size_t index = 0;
    for (std::size_t v = 0; v < left_.size(); ++v) index |= static_cast<std::size_t>(has(set, left_[v])) << v;
    return index;
}

void NextLayers::set_past(VarSet past) {
    past_ = past;
    left_ = members_of(all_of(layers_.weights().n_variables()) & ~past);
    const auto bits = static_cast<int>(left_.size());
    folded_.resize(2 * n_sets(bits));
    double* terms = folded_.data() + n_sets(bits);
    read_sums(layers_.weights(), past, left_, sums_);
    Terms(layers_, past, left_).gather(terms);
    rests_.assign(terms, terms + n_sets(bits));
    subtract_subsets_of_doubles(rests_.data(), rests_.size(), sums_.data());
    fold_levels(folded_.data(), bits, sums_.data());
    long_rests_.clear();
}

// Where the difference of two sums is all rounding, the most it can be, all of it in doubt.
void NextLayers::set_ways(VarSet last) {
    const ParentWeights& weights = layers_.weights();
    last_ = last;
    ways_.clear();
    doubts_.clear();
    for (std::size_t v = 0; v < left_.size(); ++v) {
        const auto ways = static_cast<double>(weights.ways_by_difference(left_[v], past_, last));
        const bool is_exact = last == 0 || sums_[v] == 0.0;
        const double least = is_exact ? 0.0 : tiny_share * sums_[v];
        ways_.push_back(std::max(ways, least));
        doubts_.push_back(is_exact ? 0.0 : ways < least ? 1.0 : static_cast<double>(weights.difference_error()) / ways);
    }
}

// Adds up the doubtful ways family by family if that matters, else those that are all doubt count as none. Returns how
// much of the probability this may have moved.
double NextLayers::settle_doubts() {
    double most = 0.0;
    for (double doubt : doubts_) most += doubt;
    if (most <= tolerance_) return most;
    add_up(rests_);
    room_.resize(running_.size());
    double share = 0.0;
    for (std::size_t i = 0; i < running_.size(); ++i) {
        room_[i] = i == 0 ? 0.0 : room_[i & (i - 1)] + doubts_[std::countr_zero(i)];
        if (i > 0) share += room_[i] * (running_[i] - running_[i - 1]);
    }
    share /= total();
    const bool matters = !(share + rounding(epsilon) <= tolerance_);  // no number: nothing is left
    for (std::size_t v = 0; v < left_.size(); ++v) {
        if (matters && is_doubtful(v)) ways_[v] = layers_.weights().ways_by_families(left_[v], past_, last_);
        if (!matters && doubts_[v] == 1.0) ways_[v] = 0.0;
    }
    return matters ? tolerance_ : share;
}

// Probabilities of all layers, added up one after another.
template <class Real>
void NextLayers::add_up(const std::vector<Real>& rests) {
    const std::size_t size = rests.size();
    running_.resize(size);
    running_[0] = 1.0;
    for (std::size_t v = 0, half = 1; v < left_.size(); ++v, half <<= 1)
        for (std::size_t i = 0; i < half; ++i) running_[i + half] = running_[i] * ways_[v];
    const double* terms = folded_.data() + size;
    double passed = running_[0] = 0.0;
    for (std::size_t i = 1; i < size; ++i) {
        const std::size_t rest = size - 1 - i;
        if (terms[rest] > 0.0)  // else no network goes on with this rest
            passed += running_[i] * std::max(0.0, static_cast<double>(rests[rest]));
        running_[i] = passed;
    }
}

// How much of the probability rounding with this epsilon may have moved: as many parts of the sum of all terms of all
// layers without their signs. Variable by variable: each is left, or in K, or in the layer, which must not be empty.
double NextLayers::rounding(double real_epsilon) {
    const auto bits = static_cast<int>(left_.size());
    room_.assign(n_sets(bits), 0.0);
    for (int v = bits - 1; v >= 0; --v) {
        const std::size_t half = n_sets(v);
        const double* all_terms = folded_.data() + 2 * half;
        const double either = sums_[v] + ways_[v];
        for (std::size_t i = 0; i < half; ++i)
            room_[i] = room_[i + half] + either * room_[i] + ways_[v] * all_terms[i];
    }
    return (2.0 * (bits + 2) * real_epsilon + layers_.error()) * room_[0] / total();
}

void NextLayers::set_last(VarSet last) {
    set_ways(last);
    const double doubt = settle_doubts();
    add_up(rests_);
    double rounded = rounding(epsilon);
    is_redone_ = !(rounded <= tolerance_);
    if (is_redone_) {
        if (long_rests_.empty()) {
            std::vector<long double> sums;
            long_rests_.resize(rests_.size());
            read_sums(layers_.weights(), past_, left_, sums);
            Terms(layers_, past_, left_).gather(long_rests_.data());
            subtract_subsets(long_rests_.data(), long_rests_.size(), sums.data());
        }
        add_up(long_rests_);
        rounded = rounding(long_epsilon);
    }
    error_ = is_dead_end() ? 1.0 : std::min(1.0, doubt + rounded);
}

VarSet NextLayers::drawn(double at) const {
    const auto place = std::upper_bound(running_.begin() + 1, running_.end(), at * total());
    auto index = static_cast<std::size_t>(std::min(place, running_.end() - 1) - running_.begin());
    while (index > 1 && running_[index] == running_[index - 1]) --index;  // only when the product was rounded up
    VarSet set = 0;
    for (std::size_t v = 0; v < left_.size(); ++v)
        if ((index >> v) & 1) set |= only(left_[v]);
    return set;
}

double NextLayers::probability(VarSet layer) const {
    const std::size_t index = index_of(layer);
    return index == 0 ? 0.0 : (running_[index] - running_[index - 1]) / total();
}

}  // namespace topdag
