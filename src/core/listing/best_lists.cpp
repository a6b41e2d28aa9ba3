#include "listing/best_lists.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>

#include "base/infinity.h"
#include "base/parallel.h"
#include "lattice/ideal_lattice.h"
#include "lattice/sparse_lattice.h"
#include "listing/block_family_bounds.h"
#include "listing/class_rule.h"

namespace topdag {

namespace {

constexpr std::size_t first_reach = 1024;
constexpr std::size_t further_reach = 32;
constexpr std::size_t enough_starts = 64;  // pieces of work that threads share

// Where a find stands among all of a pass in the order of the walk: behind all finds from earlier starts.
using Place = std::uint64_t;
constexpr Place first_place(std::size_t start) { return static_cast<Place>(start) << 40; }

// Finds of one walk, in its order.
struct Finds {
    explicit Finds(Place first) : next(first) {}

    Place next;  // the place of the next find
    std::vector<double> scores;
    std::vector<Place> places;
    std::vector<VarSet> parents;

    void add(double score, const std::vector<VarSet>& masks) {
        scores.push_back(score);
        places.push_back(next++);
        for (VarSet mask : masks) parents.push_back(mask);
    }

    void clear() {
        scores.clear();
        places.clear();
        parents.clear();
    }
};

// Where finds go; not a template, so that walks are compiled once for all kinds.
class Sink {
public:
    virtual ~Sink() = default;
    virtual bool stores_finds() const = 0;
    // What a find must reach that stands at this place or behind it.
    virtual double threshold(Place place) = 0;
    virtual void add(const Finds& finds) = 0;
};

// The best finds so far, at most `most`; knows below which score nothing can enter any more.
class Collector final : public Sink {
public:
    Collector(int n, std::size_t most, double threshold) : n_(static_cast<std::size_t>(n)), most_(most), threshold_(threshold) {}

    bool stores_finds() const override { return true; }

    // A full list takes no more ties from its last place on.
    double threshold(Place place) override {
        const std::lock_guard guard(lock_);
        return place > last_ ? std::nextafter(threshold_, infinity) : threshold_;
    }

    void add(const Finds& finds) override {
        const std::lock_guard guard(lock_);
        scores_.insert(scores_.end(), finds.scores.begin(), finds.scores.end());
        places_.insert(places_.end(), finds.places.begin(), finds.places.end());
        parents_.insert(parents_.end(), finds.parents.begin(), finds.parents.end());
        if (scores_.size() / 2 > most_ + 512) keep_best();
    }

    // The best `most`, sorted.
    void finish(BestList& list) {
        keep_best();
        std::vector<std::size_t> order = numbers();
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return is_before(a, b); });
        list.scores = picked(scores_, order);
        list.parents = picked_parents(order);
    }

private:
    bool is_before(std::size_t a, std::size_t b) const {
        return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : places_[a] < places_[b];
    }

    std::vector<std::size_t> numbers() const {
        std::vector<std::size_t> order(scores_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        return order;
    }

    void keep_best() {
        if (scores_.size() < most_ || most_ == 0) return;
        std::vector<std::size_t> order = numbers();
        const auto last = order.begin() + static_cast<std::ptrdiff_t>(most_ - 1);
        std::nth_element(order.begin(), last, order.end(), [&](std::size_t a, std::size_t b) { return is_before(a, b); });
        order.resize(most_);
        threshold_ = scores_[order.back()];
        last_ = places_[order.back()];
        parents_ = picked_parents(order);
        scores_ = picked(scores_, order);
        places_ = picked(places_, order);
    }

    template <class T>
    static std::vector<T> picked(const std::vector<T>& values, const std::vector<std::size_t>& order) {
        std::vector<T> result;
        result.reserve(order.size());
        for (std::size_t i : order) result.push_back(values[i]);
        return result;
    }

    std::vector<VarSet> picked_parents(const std::vector<std::size_t>& order) const {
        std::vector<VarSet> picked;
        picked.reserve(order.size() * n_);
        for (std::size_t i : order) picked.insert(picked.end(), &parents_[i * n_], &parents_[i * n_] + n_);
        return picked;
    }

    std::size_t n_;
    std::size_t most_;
    double threshold_;
    Place last_ = std::numeric_limits<Place>::max();  // of the last one of a full list
    std::mutex lock_;
    std::vector<double> scores_;
    std::vector<Place> places_;
    std::vector<VarSet> parents_;
};

// Takes no finds, only counts them.
class Counter final : public Sink {
public:
    explicit Counter(double threshold) : threshold_(threshold) {}
    bool stores_finds() const override { return false; }
    double threshold(Place) override { return threshold_; }
    void add(const Finds&) override {}

private:
    double threshold_;
};

// Everything above the sink's threshold goes into the sink; threads share the beginnings.
template <class AnyLattice, class Rule>
WalkCounts walk_everything(const AnyLattice& lattice, const FamilyTable& families, const Rule& rule, Sink& sink,
                           Limits& limits) {
    using OneWalk = Walk<AnyLattice, Rule>;
    const auto n = static_cast<std::size_t>(lattice.n_variables());
    OneWalk scout(lattice, families, rule, sink.threshold(0));
    std::vector<typename OneWalk::Start> starts{{typename Rule::State{}, std::vector<VarSet>(n, 0)}};
    for (std::size_t depth = 0; depth + 1 < n && !starts.empty() && starts.size() < enough_starts; ++depth) {
        std::vector<typename OneWalk::Start> longer;
        for (const auto& start : starts)
            for (auto& grown : scout.grow(start)) longer.push_back(std::move(grown));
        starts = std::move(longer);
    }
    limits.begin(Phase::listing, starts.size());
    std::vector<std::unique_ptr<OneWalk>> walks(limits.threads);
    parallel_for(starts.size(), limits, [&](std::size_t i, int worker) {
        if (!walks[worker]) walks[worker] = std::make_unique<OneWalk>(lattice, families, rule, sink.threshold(0));
        OneWalk& walk = *walks[worker];
        Finds finds(first_place(i));
        walk.begin(starts[i]);
        walk.raise(sink.threshold(finds.next));
        for (Walked step = walk.next(); step != Walked::ended; step = walk.next()) {
            if (step == Walked::found) {
                if (sink.stores_finds()) finds.add(walk.score, walk.parents);
                continue;
            }
            sink.add(finds);
            finds.clear();
            walk.raise(sink.threshold(finds.next));
            if (limits.reached()) return;
        }
        sink.add(finds);
        ++limits.done;
    });
    WalkCounts counts;
    for (const auto& walk : walks) {
        if (walk) counts += walk->counts;
    }
    return counts;
}

template <class AnyLattice>
WalkCounts walk_all(const AnyLattice& lattice, const FamilyTable& families, Listed what, Sink& sink, Limits& limits) {
    const std::vector<int> order = best_order(lattice);
    if (what == Listed::classes)
        return walk_everything(lattice, families, ClassRule<AnyLattice>(lattice, families, order), sink, limits);
    return walk_everything(lattice, families, NetworkRule<AnyLattice>(lattice, families, order), sink, limits);
}

FamilyTable above(const FamilyTable& families, double threshold) {
    FamilyTable kept(families.size());
    for (std::size_t x = 0; x < families.size(); ++x)
        std::copy_if(families[x].begin(), families[x].end(), std::back_inserter(kept[x]),
                     [&](const ScoredFamily& family) { return family.bound >= threshold; });
    return kept;
}

// Thresholds from the best score down to `lowest`: each lets in half as many families again as the one before.
std::vector<double> thresholds(const FamilyTable& families, double best, double lowest) {
    std::vector<double> bounds;
    for (const auto& own : families)
        for (const ScoredFamily& family : own) bounds.push_back(family.bound);
    std::sort(bounds.begin(), bounds.end(), std::greater<>());
    std::vector<double> result{best};
    for (std::size_t rank = families.size() + 4; rank < bounds.size(); rank += rank / 2)
        if (bounds[rank] < result.back() && bounds[rank] > lowest) result.push_back(bounds[rank]);
    if (result.back() > lowest) result.push_back(lowest);
    return result;
}

// Everything above the threshold into the list; false when a limit stopped it.
template <class AnyLattice>
bool one_pass(const AnyLattice& lattice, const FamilyTable& families, const ListRequest& request, double threshold,
              Limits& limits, BestList& list) {
    Collector collector(lattice.n_variables(), request.most, threshold);
    list.counts += walk_all(lattice, above(families, threshold), request.what, collector, limits);
    if (limits.stop.load()) {
        if (list.scores.empty()) collector.finish(list);  // some of the best; nothing scores above them
        return false;
    }
    collector.finish(list);
    list.floor = list.scores.size() == request.most ? list.scores.back() : threshold;
    return true;
}

}  // namespace

template <class AnyLattice>
BestList list_best(const AnyLattice& lattice, const ListRequest& asked, Limits& limits) {
    const ListRequest request{asked.what, asked.most, std::max(asked.lowest, lattice.lowest())};
    const double best = lattice.forward(all_of(lattice.n_variables()));
    BestList list(lattice.n_variables());
    list.floor = best;
    if (best == minus_infinity) {
        list.finished = true;
        return list;
    }
    double last = infinity;  // the threshold of the last pass
    // The families that a few can need mostly make enough networks for many.
    for (std::size_t reach = std::min(request.most, first_reach);; reach = std::min(request.most, further_reach * reach)) {
        const KBestFamilies needed = families_for_k_best(lattice, reach, request.what == Listed::classes, limits);
        if (needed.families.empty()) return list;
        const double lowest = std::max(request.lowest, needed.floor);
        for (double threshold : thresholds(needed.families, best, lowest)) {
            if (threshold >= last) continue;
            if (!one_pass(lattice, needed.families, request, threshold, limits, list)) return list;
            last = threshold;
            if (list.scores.size() == request.most) break;
        }
        if (list.scores.size() == request.most || lowest <= request.lowest || reach == request.most) break;
    }
    list.finished = true;
    return list;
}

template <class AnyLattice>
Count count_above(const AnyLattice& lattice, Listed what, double lowest, Limits& limits) {
    const double threshold = std::max(lowest, lattice.lowest());
    const FamilyTable families = families_reaching(lattice, threshold, limits);
    if (families.empty()) return {};
    Counter counter(threshold);
    const WalkCounts counts = walk_all(lattice, families, what, counter, limits);
    return {!limits.stop.load(), counts};
}

// What can be listed from.
template BestList list_best(const Lattice&, const ListRequest&, Limits&);
template Count count_above(const Lattice&, Listed, double, Limits&);
template BestList list_best(const IdealLattice&, const ListRequest&, Limits&);
template Count count_above(const IdealLattice&, Listed, double, Limits&);
template BestList list_best(const SparseLattice&, const ListRequest&, Limits&);
template Count count_above(const SparseLattice&, Listed, double, Limits&);
template BestList list_best(const BlockLattice&, const ListRequest&, Limits&);
template Count count_above(const BlockLattice&, Listed, double, Limits&);

}  // namespace topdag
