#include "climbing/data_climb.h"

#include <algorithm>
#include <numeric>

#include "base/infinity.h"
#include "families/order_moves.h"

namespace topdag {

namespace {

constexpr double gain_of_a_move = 1e-7;  // below, sums of scores differ by rounding
constexpr int most_climbs_in_vain = 1'000;
constexpr double work_of_a_look = 64.0;  // for parents that are known

// What comes before others moves before them, else the order stays.
template <class Set>
void sort_by(const std::vector<Set>& before, std::vector<int>& order) {
    Set placed = 0;
    for (auto place = order.begin(); place != order.end(); ++place) {
        const auto next = std::find_if(place, order.end(), [&](int v) { return is_subset(before[v], placed); });
        std::rotate(place, next, next + 1);
        placed |= only<Set>(*place);
    }
}

}  // namespace

template <class Set>
DataClimb<Set>::DataClimb(std::unique_ptr<ScoreSource<Set>> families, std::vector<ParentRules<Set>> rules,
                          std::vector<Set> before, std::uint64_t seed)
    : trees_(std::move(families), std::move(rules)), before_(std::move(before)), draws_(seed), best_score_(minus_infinity),
      above_(before_), order_(before_.size()), order_score_(minus_infinity), best_order_score_(minus_infinity) {
    std::iota(order_.begin(), order_.end(), 0);
}

template <class Set>
void DataClimb<Set>::go_on(double work) {
    trees_.allow(work);
    if (!has_edges_ && !add_edges()) return;
    while (climbs_since_best_ < most_climbs_in_vain && climb()) disturb();
}

template <class Set>
void DataClimb<Set>::offer(double score, const std::vector<Set>& parents) {
    if (score <= std::max(best_score_, ParentTrees<Set>::hopeless / 2)) return;
    best_score_ = score;
    best_ = parents;
}

// Adds the edge that gains most until none does; false when the work is done before.
template <class Set>
bool DataClimb<Set>::add_edges() {
    const int n = trees_.n_variables();
    while (static_cast<int>(at_.size()) < n) {
        if (trees_.is_exhausted()) return false;
        at_.push_back(trees_.root(static_cast<int>(at_.size())));
    }
    while (true) {
        double most = minus_infinity, score = 0.0;
        int child = -1;
        std::size_t branch = 0;
        std::vector<Set> parents(n);
        for (int x = 0; x < n; ++x) {
            const typename ParentTrees<Set>::Node* node = trees_.grown(x, at_[x]);
            if (node == nullptr) return false;
            parents[x] = node->own.parents;
            score += trees_.satisfies(x, parents[x]) ? node->own.score : ParentTrees<Set>::hopeless;
            for (std::size_t b = 0; b < node->branches.size(); ++b) {
                const double gain = node->branches[b].score - node->own.score;
                if (gain <= most) break;
                if (has(above_[node->branches[b].p], x)) continue;
                most = gain;
                child = x;
                branch = b;
            }
        }
        offer(score, parents);
        if (child < 0) break;
        const int p = trees_.grown(child, at_[child])->branches[branch].p;
        at_[child] = trees_.child(at_[child], branch);
        for (int v = 0; v < n; ++v)
            if (v == child || has(above_[v], child)) above_[v] |= above_[p] | only<Set>(p);
    }
    sort_by(above_, order_);
    return has_edges_ = true;
}

// Moves one variable at a time to its best place until none has a better one; false when the work is done before, and
// then all is as before the last move.
template <class Set>
bool DataClimb<Set>::climb() {
    const int n = trees_.n_variables();
    bool is_known = true;
    const auto cost = [&](int v, Set within) {
        if (!is_known) return 0.0;
        const std::optional<ScoredParents<Set>> found = trees_.best_within(v, within);
        is_known = found.has_value();
        return is_known ? -found->score : 0.0;
    };
    const auto may_pass = [&](int v, int w) { return !has(before_[v], w) && !has(before_[w], v); };
    while (true) {
        if (!is_recorded_ && !record()) return false;
        if (since_change_ == n) return true;
        const int from = static_cast<int>(std::find(order_.begin(), order_.end(), next_) - order_.begin());
        const BestPlace best = best_place<Set>(order_, from, cost, may_pass);
        if (!is_known || trees_.is_exhausted()) return false;
        trees_.charge(work_of_a_look * n);
        next_ = (next_ + 1) % n;
        ++since_change_;
        if (best.change > -gain_of_a_move) continue;
        move_to(order_, from, best.place);
        is_recorded_ = false;
        since_change_ = 0;
    }
}

// The network of the order at hand; false when the work is done before it is known.
template <class Set>
bool DataClimb<Set>::record() {
    std::vector<Set> parents(order_.size());
    Set placed = 0;
    double score = 0.0;
    for (const int v : order_) {
        const std::optional<ScoredParents<Set>> found = trees_.best_within(v, placed);
        if (!found) return false;
        score += found->score;
        parents[v] = found->parents;
        placed |= only<Set>(v);
    }
    offer(score, parents);
    order_score_ = score;
    return is_recorded_ = true;
}

// Begins anew near the best local optimum.
template <class Set>
void DataClimb<Set>::disturb() {
    climbs_since_best_ = order_score_ > best_order_score_ + gain_of_a_move ? 0 : climbs_since_best_ + 1;
    if (order_score_ >= best_order_score_) {
        best_order_score_ = order_score_;
        best_order_ = order_;
    }
    order_ = best_order_;
    const int n = static_cast<int>(order_.size());
    for (int moves = 2 + draws_.below(3 + n / 8); moves > 0; --moves) move_to(order_, draws_.below(n), draws_.below(n));
    sort_by(before_, order_);
    is_recorded_ = false;
    since_change_ = 0;
}

template class DataClimb<WideSet>;
template class DataClimb<VastSet>;

}  // namespace topdag
