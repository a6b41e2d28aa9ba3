// order_layers.cpp
#include "orders/order_layers.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

namespace {

constexpr std::size_t n_parts = 32;      // by hash; a part is filled by one thread at a time
constexpr std::size_t block_size = 256;  // sets that a thread takes at a time
constexpr std::size_t round_size = 128;  // blocks between two times that successors are merged

struct Step {
    VarSet set;
    double forward;
    VarSet relay;

    // Of two ways to one set the cheaper counts; of equal ones a fixed one.
    bool is_better_than(const Step& other) const {
        return forward != other.forward ? forward < other.forward : relay < other.relay;
    }
};

// The best step to each set. The empty set follows no other, so it marks a free place.
class StepTable {
public:
    void add(const Step& step) {
        if (2 * (size_ + 1) > places_.size()) grow();
        Step& place = places_[place_of(step.set)];
        if (place.set == 0) {
            place = step;
            ++size_;
        } else if (step.is_better_than(place)) {
            place = step;
        }
    }
    std::size_t size() const { return size_; }

    // The steps, smallest sets first; the table is empty then.
    std::vector<Step> take_sorted() {
        std::vector<Step> steps = std::move(places_);
        std::erase_if(steps, [](const Step& step) { return step.set == 0; });
        std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.set < b.set; });
        places_.clear();
        size_ = 0;
        return steps;
    }

private:
    std::size_t place_of(VarSet set) const {
        std::size_t place = (scrambled(set) >> 5) & (places_.size() - 1);
        while (places_[place].set != 0 && places_[place].set != set) place = (place + 1) & (places_.size() - 1);
        return place;
    }
    void grow() {
        std::vector<Step> old(std::max<std::size_t>(16, 2 * places_.size()), Step{0, 0.0, 0});
        old.swap(places_);
        for (const Step& step : old)
            if (step.set != 0) places_[place_of(step.set)] = step;
    }

    std::vector<Step> places_;
    std::size_t size_ = 0;
};

// What one thread finds.
struct Found {
    std::vector<std::vector<Step>> steps{n_parts};  // by part
    double least_value = infinity;
};

void expand(const ParentLookup& lookup, const Bound& bound, const OrderLayer& from, std::size_t i,
            const LayerRule& rule, Found& found) {
    const VarSet placed = from.sets[i];
    double forward[64];
    double after[64];
    double left[64];
    VarSet possible = 0;
    for (VarSet rest = rule.variables & ~placed; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const double cost = lookup.least_cost(x, placed);
        forward[x] = from.forward[i] + cost;
        if (rule.extend_paths && cost == 0.0) {
            possible = only(x);
            break;
        }
        if (forward[x] <= rule.threshold && cost != Candidates::no_family) possible |= only(x);
    }
    possible &= rule.goal;
    for (VarSet rest = possible; rest != 0; rest &= rest - 1)
        left[first_of(rest)] = rule.threshold - forward[first_of(rest)];
    bound.after_each(placed, possible, after, left);
    for (VarSet rest = possible; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        if (forward[x] + after[x] > rule.threshold) continue;
        const VarSet next = placed | only(x);
        found.steps[scrambled(next) % n_parts].push_back({next, forward[x], rule.carry_relays ? from.relays[i] : 0});
        found.least_value = std::min(found.least_value, forward[x] + after[x]);
    }
}

// Parts hold sets of any value: they are sorted one by one and then merged in pairs.
std::vector<Step> merged(std::vector<std::vector<Step>> sorted, int threads, Limits& limits) {
    while (sorted.size() > 1) {
        std::vector<std::vector<Step>> next(sorted.size() / 2);
        parallel_for(next.size(), threads, limits, [&](std::size_t i, int) {
            std::vector<Step>&a = sorted[2 * i], &b = sorted[2 * i + 1];
            next[i].resize(a.size() + b.size());
            std::merge(a.begin(), a.end(), b.begin(), b.end(), next[i].begin(),
                       [](const Step& left, const Step& right) { return left.set < right.set; });
            a = {};
            b = {};
        });
        sorted = std::move(next);
    }
    return std::move(sorted.front());
}

}  // namespace

bool OrderLayers::follow(const OrderLayer& from, const LayerRule& rule, Limits& limits, OrderLayer& to) const {
    const std::size_t blocks = (from.size() + block_size - 1) / block_size;
    const int threads = blocks < 8 ? 1 : limits.threads;
    std::vector<Found> found(threads);
    std::vector<StepTable> tables(n_parts);
    for (std::size_t round = 0; round < blocks; round += round_size) {
        parallel_for(std::min(round_size, blocks - round), threads, limits, [&](std::size_t block, int worker) {
            const std::size_t begin = (round + block) * block_size;
            for (std::size_t i = begin; i < std::min(begin + block_size, from.size()); ++i)
                expand(lookup_, bound_, from, i, rule, found[worker]);
        });
        if (limits.reached()) return false;
        parallel_for(n_parts, threads, limits, [&](std::size_t part, int) {
            for (Found& one : found) {
                for (const Step& step : one.steps[part]) tables[part].add(step);
                one.steps[part].clear();
            }
        });
        if (limits.reached()) return false;
        limits.done += std::min(round_size * block_size, from.size() - round * block_size);
        std::size_t size = 0;
        for (const StepTable& table : tables) size += table.size();
        if (size > rule.most_sets) return false;
    }
    std::vector<std::vector<Step>> sorted(n_parts);
    parallel_for(n_parts, threads, limits, [&](std::size_t part, int) { sorted[part] = tables[part].take_sorted(); });
    const std::vector<Step> steps = merged(std::move(sorted), threads, limits);
    if (limits.reached()) return false;
    to = {};
    for (const Found& one : found) to.least_value = std::min(to.least_value, one.least_value);
    to.sets.reserve(steps.size());
    to.forward.reserve(steps.size());
    for (const Step& step : steps) {
        to.sets.push_back(step.set);
        to.forward.push_back(step.forward);
        if (rule.carry_relays) to.relays.push_back(step.relay);
    }
    return true;
}

}  // namespace topdag
