#include "lattice/ideal_lattice.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/parallel.h"
#include "lattice/sweeps.h"

namespace topdag {

namespace {

constexpr int piece_bits = 12;
constexpr double least_gain = std::numeric_limits<double>::min();  // any difference on the grid is larger
constexpr std::size_t ideals_between_looks = 4096;

}  // namespace

IdealLattice::IdealLattice(const LocalScores& scores)
    : n_(scores.n_variables()), scores_(scores), ideals_(n_, scores.precedence()) {
    for (int x = 0; x < n_; ++x) best_.emplace_back(ideals_.size());
}

VarSet IdealLattice::least_ideal(VarSet set) const {
    VarSet ideal = set;
    for (VarSet rest = set; rest != 0; rest &= rest - 1) ideal |= before(first_of(rest));
    return ideal;
}

template <class Visit>
void IdealLattice::for_each_piece(int x, Visit&& visit) const {
    const int bits = std::min(n_ - 1, piece_bits);
    std::vector<VarSet> low, ideals(n_sets(bits));
    for (VarSet slot = 0; slot < n_sets(bits); ++slot) low.push_back(least_ideal(with_gap(slot, x)));
    for (VarSet begin = 0; begin < n_sets(n_ - 1); begin += n_sets(bits)) {
        const VarSet high = least_ideal(with_gap(begin, x));
        if (has(high, x)) continue;
        for (std::size_t i = 0; i < n_sets(bits); ++i) ideals[i] = high | low[i];
        visit(begin, n_sets(bits), ideals.data());
    }
}

// Ideals with x are left out: x is placed after its parents, and whatever comes after x needs it. Families that do not
// beat those with none of the parents that all of their piece have need not be looked at.
void IdealLattice::fill_best(int x) {
    BigArray& own = best_[x];
    std::fill_n(own.data(), own.size(), minus_infinity);
    std::vector<double> locals(n_sets(std::min(n_ - 1, piece_bits))), to_beat(locals.size());
    for_each_piece(x, [&](VarSet begin, std::size_t count, const VarSet* ideals) {
        scores_.fill(x, begin, count, locals.data());
        auto take = [&](std::size_t i) {
            if (has(ideals[i], x)) return;
            double& best = own[ideals_.find(ideals[i])];
            best = std::max(best, locals[i]);
        };
        if (begin > 0) {
            for_each_sum_reaching(locals.data(), to_beat.data(), least_gain, count, take);
            return;
        }
        for (std::size_t i = 0; i < count; ++i)
            if (locals[i] > minus_infinity) take(i);
        std::copy(locals.begin(), locals.end(), to_beat.begin());
        max_over_subsets(to_beat.data(), std::min(n_ - 1, piece_bits));
        for (double& value : to_beat) value = -value;
    });
    for (std::size_t place = 1; place < own.size(); ++place) {
        if (has(ideals_.set(place), x)) continue;
        for (const std::uint32_t* lower = ideals_.lower(place); lower != ideals_.lower(place + 1); ++lower)
            own[place] = std::max(own[place], own[*lower]);
    }
}

bool IdealLattice::order(Limits& limits) {
    limits.begin(Phase::sweeping, n_);
    parallel_for(n_, limits, [&](std::size_t x, int) {
        fill_best(static_cast<int>(x));
        ++limits.done;
    });
    if (limits.stop.load()) return false;
    limits.begin(Phase::ordering, ideals_.size());
    forward_ = BigArray(ideals_.size());
    forward_[0] = 0.0;
    for (std::size_t place = 1; place < ideals_.size(); ++place) {
        if (Limits::looks_at(place, ideals_between_looks) && limits.reached()) return false;
        double most = minus_infinity;
        for (const std::uint32_t* lower = ideals_.lower(place); lower != ideals_.lower(place + 1); ++lower) {
            const int x = first_of(ideals_.set(place) & ~ideals_.set(*lower));
            most = std::max(most, best_[x][*lower] + forward_[*lower]);
        }
        forward_[place] = most;
    }
    return true;
}

bool IdealLattice::order_backward(Limits& limits) {
    limits.begin(Phase::ordering, ideals_.size());
    backward_ = BigArray(ideals_.size());
    std::fill_n(backward_.data(), ideals_.size(), minus_infinity);
    backward_[ideals_.size() - 1] = 0.0;
    for (std::size_t place = ideals_.size(); place-- > 0;) {
        if (Limits::looks_at(place, ideals_between_looks) && limits.reached()) return false;
        for (const std::uint32_t* lower = ideals_.lower(place); lower != ideals_.lower(place + 1); ++lower) {
            const int x = first_of(ideals_.set(place) & ~ideals_.set(*lower));
            backward_[*lower] = std::max(backward_[*lower], best_[x][*lower] + backward_[place]);
        }
    }
    return true;
}

double IdealLattice::best_alone(int x) const {
    return *std::max_element(best_[x].data(), best_[x].data() + n_ideals());
}

void IdealLattice::bound_families(int x, BigArray& local, BigArray& bound) const {
    BigArray around(ideals_.size());  // by ideal, the most over all ideals around it that x may follow
    for (std::size_t place = 0; place < ideals_.size(); ++place)
        around[place] = has(ideals_.set(place), x) ? minus_infinity
                                                   : forward_[place] + backward(ideals_.set(place) | only(x));
    for (std::size_t place = ideals_.size(); place-- > 0;)
        for (const std::uint32_t* lower = ideals_.lower(place); lower != ideals_.lower(place + 1); ++lower)
            around[*lower] = std::max(around[*lower], around[place]);
    scores_.fill(x, 0, local.size(), local.data());
    std::fill_n(bound.data(), bound.size(), minus_infinity);
    for_each_piece(x, [&](VarSet begin, std::size_t count, const VarSet* ideals) {
        for (std::size_t i = 0; i < count; ++i)
            if (local[begin + i] > minus_infinity && !has(ideals[i], x))
                bound[begin + i] = local[begin + i] + around[ideals_.find(ideals[i])];
    });
}

}  // namespace topdag
