// listing.h: every network scoring at least a threshold, each exactly once.
//
// Networks are built by adding one variable with its parents at a time. So that each is reached on one path only, it
// is built along its own canonical order: the one that always takes, among the variables whose parents are placed,
// the first in a reference order. So x may be added only if it could not have been added before: with y the last
// placed variable that stands behind x in the reference order, x must have a parent among y and those placed after it,
// its *blockers*. No list of networks already seen is needed. What comes before x in any case (precedence.h) counts as
// a parent of it here.
//
// A partial network on Y with score g is left as soon as no network from it can reach the threshold t:
//   g + H(Y) < t, or
//   some x still to come has blockers, but no family that could meet them (or variables still to come) and has
//   M(x, U) - (F(Y) - g) >= t. For such a network with the best start on Y in place of this one still has (x, U), so
//   it scores at most M(x, U).
//
// Finds come in a fixed order that no threshold changes: that of the steps, best first (Step::is_before), at the first
// step where two paths part. Networks that tie stand in this order, so a full list may be left at once by a walk that
// is behind its last one and can only meet ties with it.
//
// Lattice is anything with most_variables, n_variables(), best(x, set), forward(set), backward(set), before(x) and
// last_variable(set), and with families_reaching and families_for_k_best of its own (family_bounds.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/infinity.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "lattice/family_bounds.h"

namespace topdag {

// A way to add a variable to the networks on a set; `most` is its local score plus H of the larger set.
struct Step {
    VarSet parents;
    double score;
    double most;
    int x;

    static bool is_before(const Step& a, const Step& b) {
        if (a.most != b.most) return a.most > b.most;
        return a.x != b.x ? a.x < b.x : a.parents < b.parents;
    }
};

// The steps that may be taken from a set, best first; remembered, because sets are met again and again.
template <class Lattice>
class Steps {
public:
    using List = std::shared_ptr<const std::vector<Step>>;

    // Families by falling local score.
    Steps(const Lattice& lattice, const FamilyTable& families, double threshold)
        : lattice_(lattice), families_(families), threshold_(threshold) {}

    List from(VarSet placed) {
        const auto known = cache_.find(placed);
        if (known != cache_.end()) return known->second;
        if (cached_ > most_cached) {  // forget; whoever still holds a list keeps it
            cache_.clear();
            cached_ = 0;
        }
        auto steps = std::make_shared<const std::vector<Step>>(find(placed));
        cached_ += steps->size() + 8;
        cache_.emplace(placed, steps);
        return steps;
    }

private:
    static constexpr std::size_t most_cached = std::size_t{1} << 22;  // 128 MiB of steps

    std::vector<Step> find(VarSet placed) const {
        std::vector<Step> steps;
        const double reached = lattice_.forward(placed);  // no network on these variables has more
        for (int x = 0; x < lattice_.n_variables(); ++x) {
            if (has(placed, x)) continue;
            const double rest = lattice_.backward(placed | only(x));
            if (rest == minus_infinity) continue;  // also when the threshold is as low
            if (reached + lattice_.best(x, placed) + rest < threshold_) continue;
            for (const ScoredFamily& family : families_[x]) {
                if (reached + family.score + rest < threshold_) break;
                if (is_subset(family.parents, placed))
                    steps.push_back({family.parents, family.score, family.score + rest, x});
            }
        }
        std::sort(steps.begin(), steps.end(), Step::is_before);
        return steps;
    }

    const Lattice& lattice_;
    const FamilyTable& families_;
    double threshold_;
    std::unordered_map<VarSet, List> cache_;
    std::size_t cached_ = 0;
};

struct WalkCounts {
    std::uint64_t found = 0;
    std::uint64_t expanded = 0;   // partial networks whose steps were looked at
    std::uint64_t dead_ends = 0;  // of those, how many led to nothing

    WalkCounts& operator+=(const WalkCounts& other) {
        found += other.found;
        expanded += other.expanded;
        dead_ends += other.dead_ends;
        return *this;
    }
};

enum class Walked { found, paused, ended };

// A depth-first walk over everything that can be built from a starting point. Resumable: next() goes on.
// Rule says what may be built and what a state is: it has
//   State: { VarSet placed; double score; std::vector<VarSet> parents is kept by the walk }
//   bool may_add(const State&, const Step&), State after(const State&, const Step&), bool has_hope(const State&, double)
template <class Lattice, class Rule>
class Walk {
public:
    using State = typename Rule::State;
    struct Start {
        State state;
        std::vector<VarSet> parents;  // by variable; of those placed
    };

    Walk(const Lattice& lattice, const FamilyTable& families, const Rule& rule, double threshold)
        : steps_(lattice, families, threshold),
          rule_(rule),
          everything_(all_of(lattice.n_variables())),
          threshold_(threshold) {}

    void begin(const Start& start) {
        parents = start.parents;
        frames_.clear();
        push(start.state);
    }

    // Only what scores at least this from now on.
    void raise(double threshold) { threshold_ = std::max(threshold_, threshold); }

    // Moves to the next find, which `parents` and `score` then describe; pauses now and then on the way, so that who
    // walks can look at the clock.
    Walked next() {
        while (!frames_.empty()) {
            if (++steps_since_pause_ > steps_between_pauses || (Limits::Clock::is_counted() && steps_since_pause_ > 1)) {
                steps_since_pause_ = 0;
                return Walked::paused;
            }
            Frame& frame = frames_.back();
            const std::vector<Step>& steps = *frame.steps;
            if (frame.at == steps.size() || frame.state.score + steps[frame.at].most < threshold_) {
                if (counts.found == frame.found_before) ++counts.dead_ends;
                frames_.pop_back();
                continue;
            }
            const Step& step = steps[frame.at++];
            if (!rule_.may_add(frame.state, step)) continue;
            parents[step.x] = step.parents;
            if ((frame.state.placed | only(step.x)) == everything_) {
                score = frame.state.score + step.score;
                ++counts.found;
                return Walked::found;
            }
            State larger = rule_.after(frame.state, step);
            if (rule_.has_hope(larger, threshold_)) push(larger);
        }
        return Walked::ended;
    }

    // Everything one step on from a start, in the order of the walk.
    std::vector<Start> grow(const Start& start) {
        std::vector<Start> grown;
        for (const Step& step : *steps_.from(start.state.placed)) {
            if (start.state.score + step.most < threshold_) break;
            if (!rule_.may_add(start.state, step)) continue;
            Start larger{rule_.after(start.state, step), start.parents};
            larger.parents[step.x] = step.parents;
            if (rule_.has_hope(larger.state, threshold_)) grown.push_back(std::move(larger));
        }
        return grown;
    }

    std::vector<VarSet> parents;
    double score = 0.0;
    WalkCounts counts;

private:
    static constexpr int steps_between_pauses = 1024;

    struct Frame {
        State state;
        typename Steps<Lattice>::List steps;
        std::size_t at;
        std::uint64_t found_before;
    };

    void push(const State& state) {
        frames_.push_back({state, steps_.from(state.placed), 0, counts.found});
        ++counts.expanded;
    }

    Steps<Lattice> steps_;
    const Rule& rule_;
    VarSet everything_;
    double threshold_;
    int steps_since_pause_ = 0;
    std::vector<Frame> frames_;
};

// The rule for networks: canonical orders, as said above.
template <class Lattice>
class NetworkRule {
public:
    struct State {
        VarSet placed = 0;
        double score = 0.0;
        std::array<VarSet, Lattice::most_variables> blockers{};  // of the variables still to come; empty: none needed
    };

    // `order`: all variables; the order of a best network makes few dead ends.
    NetworkRule(const Lattice& lattice, FamilyTable families, const std::vector<int>& order)
        : lattice_(lattice), by_bound_(std::move(families)), before_(order.size()) {
        for (auto& own : by_bound_)
            std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.bound > b.bound; });
        VarSet before = 0;
        for (int x : order) {
            before_[x] = before;
            before |= only(x);
        }
        everything_ = before;
        for (std::size_t x = 0; x < order.size(); ++x) early_.push_back(lattice.before(static_cast<int>(x)));
    }

    bool may_add(const State& state, const Step& step) const {
        const VarSet blockers = state.blockers[step.x];
        return blockers == 0 || (blockers & (step.parents | early_[step.x])) != 0;
    }

    State after(const State& state, const Step& step) const {
        State larger{state.placed | only(step.x), state.score + step.score, state.blockers};
        for (VarSet rest = everything_ & ~larger.placed; rest != 0; rest &= rest - 1) {
            VarSet& blockers = larger.blockers[first_of(rest)];
            if (before_[step.x] & rest & -rest) {
                blockers = only(step.x);
            } else if (blockers != 0) {
                blockers |= only(step.x);
            }
        }
        return larger;
    }

    bool has_hope(const State& state, double threshold) const {
        const double lost = lattice_.forward(state.placed) - state.score;
        const VarSet to_come = everything_ & ~state.placed;
        for (VarSet rest = to_come; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            if (state.blockers[x] != 0 && !can_meet(x, state.blockers[x] | to_come, lost, threshold)) return false;
        }
        return true;
    }

private:
    bool can_meet(int x, VarSet wanted, double lost, double threshold) const {
        for (const ScoredFamily& family : by_bound_[x]) {
            if (family.bound - lost < threshold) return false;
            if (((family.parents | early_[x]) & wanted) != 0) return true;
        }
        return false;
    }

    const Lattice& lattice_;
    FamilyTable by_bound_;
    std::vector<VarSet> before_;  // by variable: those before it in the reference order
    std::vector<VarSet> early_;   // by variable: those that come before it in any case
    VarSet everything_ = 0;
};

}  // namespace topdag
