#include "order_prior/sparse_sums.h"

#include <algorithm>

#include "base/exp_of.h"
#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

namespace {

constexpr std::size_t sets_between_looks = 1024;

}  // namespace

KnownSets known_sets(const OrderSums& before, Limits& limits) {
    KnownSets known(n_sets(before.n_variables()));
    parallel_over_sets(before.n_variables(), limits,
                       [&](VarSet set) { known[set] = {before.potential(set), before.backward(set)}; });
    return known;
}

SparseSums::SparseSums(const OrderSums& before, std::shared_ptr<const KnownSets> known)
    : n_(before.n_variables()), before_(before), known_(std::move(known)), among_(n_) {}

bool SparseSums::sum(const std::vector<BestWithin>& own, double least, std::size_t most_sets, Limits& limits) {
    forget();
    for (int x = 0; x < n_; ++x) among_[x] = ClosedSets(own[x].among);
    sets_.push_back({0, 1.0, 0.0, 0});
    places_[0] = 0;
    for (std::size_t from = 0; from < sets_.size(); ++from) {
        if (sets_.size() > most_sets || (Limits::looks_at(from, sets_between_looks) && limits.reached())) return false;
        follow(from, own, least);
    }
    const std::int32_t end = places_[n_sets(n_) - 1];
    total_ = end < 0 ? 0.0 : sets_[end].forward;
    for (std::size_t from = sets_.size(); from-- > 0;) {
        Kept& set = sets_[from];
        if (set.set == n_sets(n_) - 1) set.backward = 1.0;
        for (std::size_t i = set.steps; i < end_of_steps(from); ++i)
            set.backward += steps_[i].weight * sets_[steps_[i].to].backward;
    }
    return true;
}

// All steps that leave a set. Those to it are all known: it is smaller than those that come after it.
void SparseSums::follow(std::size_t from, const std::vector<BestWithin>& own, double least) {
    const VarSet set = sets_[from].set;
    const double forward = sets_[from].forward;
    sets_[from].steps = steps_.size();
    for (VarSet rest = n_sets(n_) - 1 - set; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const std::uint32_t place = among_[x].place(set);
        double best = own[x].best[place];
        if (best == minus_infinity || !before_.can_follow(x, set)) continue;
        if (before_.order_weights(x) != nullptr) best += before_.order_weights(x)[without_bit(set, x)];
        const KnownSet& after = (*known_)[set | only(x)];
        const double weight = exp_of(best + ((*known_)[set].potential - after.potential));
        const double most = forward * weight * after.most_rest;
        if (most < least) {
            left_out_ += most;
            continue;
        }
        std::int32_t& to = places_[set | only(x)];
        if (to < 0) {
            to = static_cast<std::int32_t>(sets_.size());
            sets_.push_back({set | only(x), 0.0, 0.0, 0});
        }
        sets_[to].forward += forward * weight;
        steps_.push_back({weight, static_cast<std::uint32_t>(to), place, x});
    }
}

void SparseSums::forget() {
    if (places_.size() == 0) {
        places_ = BigArrayOf<std::int32_t>(n_sets(n_));
        std::fill_n(places_.data(), places_.size(), -1);
    }
    for (const Kept& set : sets_) places_[set.set] = -1;
    sets_.clear();
    steps_.clear();
    left_out_ = 0.0;
}

void SparseSums::share_out(const std::vector<double*>& shares) const {
    for (std::size_t from = 0; from < sets_.size(); ++from)
        for (std::size_t i = sets_[from].steps; i < end_of_steps(from); ++i) {
            const Step& step = steps_[i];
            shares[step.x][step.place] += sets_[from].forward * step.weight * sets_[step.to].backward;
        }
}

// By the steps into the set; weights of steps are in the sets they leave.
int SparseSums::likely_last(VarSet placed) const {
    int likely = first_of(placed);
    double most = -1.0;
    for (VarSet rest = placed; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const std::int32_t from = places_[placed & ~only(x)];
        if (from < 0) continue;
        for (std::size_t i = sets_[from].steps; i < end_of_steps(from); ++i)
            if (steps_[i].x == x && sets_[from].forward * steps_[i].weight > most) {
                most = sets_[from].forward * steps_[i].weight;
                likely = x;
            }
    }
    return likely;
}

}  // namespace topdag
