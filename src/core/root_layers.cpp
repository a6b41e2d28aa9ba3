#include "root_layers.h"

#include <algorithm>
#include <limits>

#include "parallel.h"
#include "simd.h"

namespace topdag {

namespace {

constexpr double tiny_share = 0x1p-44;  // ways below this share of all are not told from none by a difference
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double long_epsilon = static_cast<double>(std::numeric_limits<long double>::epsilon());

std::vector<int> members_of(VarSet set) {
    std::vector<int> members;
    for (; set != 0; set &= set - 1) members.push_back(first_of(set));
    return members;
}

// Sums: z of each variable left. Terms: what b(M) counts for in b(left), for all M inside left, without the sums of the
// variables taken out but with their exponents; none is above b(M).
template <class Real>
void gather(const RootLayers& layers, VarSet past, const std::vector<int>& left, std::vector<Real>& sums, Real* terms) {
    const FamilyWeights& weights = layers.weights();
    VarSet all = 0;
    // Counting up sets one bit and clears those below: that variable is no longer taken out, these are again.
    std::vector<std::int64_t> steps;
    std::int64_t unit = 0;
    sums.clear();
    for (int x : left) {
        const std::int64_t exponent = weights.exponent(x, past);
        all |= only(x);
        sums.push_back(static_cast<Real>(weights.sum(x, past)));
        steps.push_back(unit - exponent);
        unit += exponent;
    }
    unit -= layers.exponent(all);
    const std::size_t size = n_sets(static_cast<int>(left.size()));
    VarSet subset = 0;
    for (std::size_t i = 0;;) {
        const double scale = power_of_two(layers.exponent(subset) + unit);
        terms[i] = static_cast<Real>(layers.sum(subset)) * static_cast<Real>(scale);
        if (++i == size) return;
        unit += steps[std::countr_zero(i)];
        subset = (subset - all) & all;
    }
}

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

// Adds up without signs: each half of `levels`, from the upper ones down, becomes the sum of the two halves of the next
// level with the factor of one variable. The last level, the upper half, is given; the value at 1 is the whole sum.
TOPDAG_SIMD void fold_levels(double* levels, int bits, const double* factors) {
    for (int v = bits - 1; v >= 0; --v) {
        const std::size_t half = n_sets(v);
        const double* larger = levels + 2 * half;
        for (std::size_t i = 0; i < half; ++i) levels[half + i] = larger[i + half] + factors[v] * larger[i];
    }
}

// The sum over all K of values(all - K) product over K of -factor; spoils the values.
long double alternating_sum(long double* values, int bits, const long double* factors) {
    for (int v = bits - 1; v >= 0; --v) {
        const std::size_t half = n_sets(v);
        for (std::size_t i = 0; i < half; ++i) values[i] = values[i + half] - factors[v] * values[i];
    }
    return values[0];
}

// What one thread needs to fill b.
struct Room {
    std::vector<long double> terms, sums;
    std::vector<double> levels, short_sums;
    double cancellation = 1.0;
};

}  // namespace

RootLayers::RootLayers(const FamilyWeights& weights)
    : weights_(weights), n_(weights.n_variables()), sums_(n_sets(n_)), exponents_(n_sets(n_)) {}

void RootLayers::fill_exponents() {
    const VarSet all = all_of(n_);
    exponents_[0] = 0;
    for (VarSet left = 1; left <= all; ++left) {
        std::int64_t most = no_exponent;
        for (VarSet rest = left; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            most = std::max(most, std::int64_t{weights_.exponent(x, all & ~left)} + exponents_[left & ~only(x)]);
        }
        exponents_[left] = most < no_exponent / 2 ? no_exponent : static_cast<std::int32_t>(most);
    }
}

bool RootLayers::fill(int threads, Limits& limits) {
    const VarSet all = all_of(n_);
    std::vector<std::vector<VarSet>> by_size(n_ + 1);
    for (VarSet left = 0; left <= all; ++left) by_size[size_of(left)].push_back(left);
    limits.begin(Phase::ordering, n_sets(n_));
    fill_exponents();
    sums_[0] = 1.0L;
    std::vector<Room> rooms(threads);
    for (int size = 1; size <= n_ && !limits.reached(); ++size)
        parallel_for(by_size[size].size(), threads, limits, [&](std::size_t i, int worker) {
            const VarSet left = by_size[size][i];
            ++limits.done;
            if (exponents_[left] == no_exponent) return;  // the sum stays zero
            Room& room = rooms[worker];
            room.terms.resize(n_sets(size));
            gather(*this, all & ~left, members_of(left), room.sums, room.terms.data());
            room.terms.back() = 0.0L;
            room.levels.resize(n_sets(size));
            room.levels.insert(room.levels.end(), room.terms.begin(), room.terms.end());
            room.short_sums.assign(room.sums.begin(), room.sums.end());
            fold_levels(room.levels.data(), size, room.short_sums.data());
            sums_[left] = -alternating_sum(room.terms.data(), size, room.sums.data());
            room.cancellation = std::max(room.cancellation, room.levels[1] / static_cast<double>(sums_[left]));
        });
    for (const Room& room : rooms) cancellation_ = std::max(cancellation_, room.cancellation);
    return !limits.stop.load();
}

double RootLayers::error() const { return 4.0 * n_ * long_epsilon * cancellation_; }

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
    gather(layers_, past, left_, sums_, terms);
    rests_.assign(terms, terms + n_sets(bits));
    subtract_subsets_of_doubles(rests_.data(), rests_.size(), sums_.data());
    fold_levels(folded_.data(), bits, sums_.data());
    long_rests_.clear();
}

// Where the difference of two sums is all rounding, the most it can be, all of it in doubt.
void NextLayers::set_ways(VarSet last) {
    const FamilyWeights& weights = layers_.weights();
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
    double passed = running_[0] = 0.0;
    for (std::size_t i = 1; i < size; ++i)
        running_[i] = passed += running_[i] * std::max(0.0, static_cast<double>(rests[size - 1 - i]));
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
            gather(layers_, past_, left_, sums, long_rests_.data());
            subtract_subsets(long_rests_.data(), long_rests_.size(), sums.data());
        }
        add_up(long_rests_);
        rounded = rounding(long_epsilon);
    }
    error_ = doubt + rounded;
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
