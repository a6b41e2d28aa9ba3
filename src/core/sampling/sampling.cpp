#include "sampling/sampling.h"

#include <algorithm>
#include <limits>

#include "base/draws.h"
#include "base/parallel.h"
#include "sampling/next_layers.h"

namespace topdag {

namespace {

constexpr std::uint64_t parent_steps = 64;      // steps below place variables, those from here on choose parents
constexpr std::uint64_t attempt_steps = 128;
constexpr std::size_t few_to_sort = 4096;        // so few are sorted by one thread
constexpr std::size_t most_in_a_group = 50'000;  // so that limits are looked at, and threads share the work

// A sample and where it stands: the placed variables, and the last layer of them.
struct Standing {
    std::uint32_t placed;
    std::uint32_t last;
    std::uint32_t sample;
    std::uint32_t attempt;

    std::uint64_t key() const { return std::uint64_t{placed} << 32 | last; }
    friend bool operator<(const Standing& a, const Standing& b) {
        return a.key() != b.key() ? a.key() < b.key() : a.sample < b.sample;
    }
};

// Each thread sorts a part, then they are merged two by two.
void sort_together(std::vector<Standing>& waiting, Limits& limits) {
    const std::size_t n_parts = std::max<std::size_t>(1, std::min<std::size_t>(limits.threads, waiting.size() / few_to_sort));
    const auto begin_of = [&](std::size_t part) {
        return waiting.begin() + static_cast<std::ptrdiff_t>(waiting.size() * std::min(part, n_parts) / n_parts);
    };
    parallel_for(n_parts, limits, [&](std::size_t part, int) { std::sort(begin_of(part), begin_of(part + 1)); });
    for (std::size_t width = 1; width < n_parts; width *= 2)
        parallel_for((n_parts + 2 * width - 1) / (2 * width), limits, [&](std::size_t pair, int) {
            const std::size_t first = 2 * width * pair;
            std::inplace_merge(begin_of(first), begin_of(first + width), begin_of(first + 2 * width));
        });
}

// The samples begin ... end - 1 of those that wait.
struct Group {
    std::size_t begin;
    std::size_t end;
};

// Samples that stand at the same placed set, together; those with the fewest placed variables first, which take longest.
std::vector<Group> group_by_placed(std::vector<Standing>& waiting, Limits& limits) {
    sort_together(waiting, limits);
    std::vector<Group> groups;
    for (std::size_t begin = 0, end; begin < waiting.size(); begin = end) {
        const std::size_t most = std::min(waiting.size(), begin + most_in_a_group);
        for (end = begin + 1; end < most && waiting[end].placed == waiting[begin].placed;) ++end;
        groups.push_back({begin, end});
    }
    std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
        return size_of(waiting[a.begin].placed) < size_of(waiting[b.begin].placed);
    });
    return groups;
}

// Chooses parents of x for some samples at once.
class ParentDraws {
public:
    void add(std::uint32_t sample, double at) { wanted_.push_back({at, sample}); }

    void draw(const ParentWeights& weights, int x, VarSet within, VarSet meeting, std::vector<VarSet>& parents) {
        std::sort(wanted_.begin(), wanted_.end(), [](const Wanted& a, const Wanted& b) { return a.at < b.at; });
        draws_.clear();
        for (const Wanted& one : wanted_) draws_.push_back({one.at, 0});
        weights.draw_parents(x, within, meeting, draws_);
        for (std::size_t i = 0; i < wanted_.size(); ++i)
            parents[wanted_[i].sample * static_cast<std::size_t>(weights.n_variables()) + x] = draws_[i].parents;
        wanted_.clear();
    }

private:
    struct Wanted {
        double at;
        std::uint32_t sample;
    };
    std::vector<Wanted> wanted_;
    std::vector<ParentWeights::Draw> draws_;
};

std::vector<Standing> at_the_start(std::size_t n_samples, VarSet placed) {
    std::vector<Standing> waiting(n_samples);
    for (std::size_t i = 0; i < n_samples; ++i)
        waiting[i] = {static_cast<std::uint32_t>(placed), 0, static_cast<std::uint32_t>(i), 0};
    return waiting;
}

// One thread's part of the work by layers.
class LayerWorker {
public:
    LayerWorker(const RootLayers& layers, const Sampling& wanted, double tolerance, NetworkSamples& result)
        : layers_(layers), next_(layers, tolerance), wanted_(wanted), parents_(result.parents) {}

    // Moves all samples of a group by one layer.
    void advance(std::vector<Standing>& waiting, Group group) {
        next_.set_past(waiting[group.begin].placed);
        for (std::size_t begin = group.begin, end; begin < group.end; begin = end) {
            end = begin + 1;
            while (end < group.end && waiting[end].last == waiting[begin].last) ++end;
            advance_together(waiting, {begin, end});
        }
    }

    std::uint64_t places = 0;
    std::uint64_t redone = 0;
    double error = 0.0;  // added up over samples

private:
    void advance_together(std::vector<Standing>& waiting, Group group) {
        const VarSet placed = waiting[group.begin].placed;
        const VarSet last = waiting[group.begin].last;
        next_.set_last(last);
        ++places;
        redone += next_.is_redone();
        error += next_.error() * static_cast<double>(group.end - group.begin);
        if (next_.is_dead_end()) {
            for (std::size_t i = group.begin; i < group.end; ++i) start_again(waiting[i]);
            return;
        }
        for (std::size_t i = group.begin; i < group.end; ++i)
            waiting[i].last = static_cast<std::uint32_t>(next_.drawn(number(waiting[i], size_of(placed))));
        if (placed != 0)  // else none has parents
            for (std::size_t v = 0; v < next_.left().size(); ++v) choose_parents(waiting, group, v, placed, last);
        for (std::size_t i = group.begin; i < group.end; ++i) waiting[i].placed |= waiting[i].last;
    }

    // Networks that do not exist are refused, so what is kept has the right probability.
    void start_again(Standing& one) {
        const auto n = static_cast<std::size_t>(layers_.weights().n_variables());
        std::fill_n(parents_.begin() + static_cast<std::ptrdiff_t>(one.sample * n), n, 0);
        one = {0, 0, one.sample, one.attempt + 1};
    }

    double number(const Standing& one, std::uint64_t step) const {
        return drawn(wanted_.seed, one.sample, one.attempt * attempt_steps + step);
    }

    void choose_parents(const std::vector<Standing>& waiting, Group group, std::size_t v, VarSet placed, VarSet last) {
        const int x = next_.left()[v];
        bool is_needed = false;
        for (std::size_t i = group.begin; i < group.end; ++i) {
            if (!has(waiting[i].last, x)) continue;
            draws_.add(waiting[i].sample, next_.ways(v) * number(waiting[i], parent_steps + x));
            is_needed = true;
        }
        if (is_needed) draws_.draw(layers_.weights(), x, placed, last, parents_);
    }

    const RootLayers& layers_;
    NextLayers next_;
    const Sampling& wanted_;
    std::vector<VarSet>& parents_;
    ParentDraws draws_;
};

// One step of one group of samples backward from the end of their orders: the last variable, and its parents.
class OrderWorker {
public:
    OrderWorker(const OrderTables& sums, const Sampling& wanted, NetworkSamples& result)
        : sums_(sums), wanted_(wanted), parents_(result.parents) {}

    void advance(std::vector<Standing>& waiting, Group group) {
        const VarSet placed = waiting[group.begin].placed;
        std::vector<std::pair<int, double>> running;  // variables with the share of them and those before
        double passed = 0.0;
        for (VarSet rest = placed; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const auto share = static_cast<double>(in_units(sums_.last(x, placed), sums_.sum(placed).exponent));
            if (share > 0.0) running.push_back({x, passed += share});
        }
        for (std::size_t i = group.begin; i < group.end; ++i) {
            const double at = passed * drawn(wanted_.seed, waiting[i].sample, size_of(placed));
            std::size_t place = 0;
            while (place + 1 < running.size() && running[place].second <= at) ++place;
            waiting[i].last = static_cast<std::uint32_t>(only(running[place].first));
        }
        for (const auto& [x, share] : running) choose_parents(waiting, group, x, placed & ~only(x));
        for (std::size_t i = group.begin; i < group.end; ++i) waiting[i].placed &= ~waiting[i].last;
    }

private:
    void choose_parents(const std::vector<Standing>& waiting, Group group, int x, VarSet before) {
        const auto sum = static_cast<double>(sums_.weights().sum(x, before));
        bool is_needed = false;
        for (std::size_t i = group.begin; i < group.end; ++i) {
            if (!has(waiting[i].last, x)) continue;
            draws_.add(waiting[i].sample, sum * drawn(wanted_.seed, waiting[i].sample, parent_steps + x));
            is_needed = true;
        }
        if (is_needed) draws_.draw(sums_.weights(), x, before, 0, parents_);
    }

    const OrderTables& sums_;
    const Sampling& wanted_;
    std::vector<VarSet>& parents_;
    ParentDraws draws_;
};

// Advances all samples until they stand at `end`; false when a limit stopped it.
template <class Worker>
bool advance_all(std::vector<Standing> waiting, VarSet end, std::vector<Worker>& workers, NetworkSamples& result,
                 Limits& limits) {
    while (!waiting.empty()) {
        const std::vector<Group> groups = group_by_placed(waiting, limits);
        if (limits.stop.load()) return false;
        result.pasts += groups.size();
        limits.begin(Phase::listing, groups.size());
        parallel_for(groups.size(), limits, [&](std::size_t i, int worker) {
            workers[worker].advance(waiting, groups[i]);
            ++limits.done;
        });
        if (limits.stop.load()) return false;
        std::erase_if(waiting, [&](const Standing& one) { return one.placed == end; });
    }
    return true;
}

}  // namespace

NetworkSamples sample_by_layers(const RootLayers& layers, const Sampling& wanted, double tolerance, Limits& limits) {
    const int n = layers.weights().n_variables();
    NetworkSamples result;
    result.cancellation = layers.cancellation();
    result.is_possible = layers.sum(all_of(n)) > 0.0L;
    if (!result.is_possible) return result;
    result.parents.assign(wanted.n_samples * n, 0);
    std::vector<LayerWorker> workers;
    for (int i = 0; i < limits.threads; ++i) workers.emplace_back(layers, wanted, tolerance, result);
    result.finished = advance_all(at_the_start(wanted.n_samples, 0), all_of(n), workers, result, limits);
    for (const LayerWorker& worker : workers) {
        result.places += worker.places;
        result.redone += worker.redone;
        result.error += worker.error / std::max<double>(1.0, static_cast<double>(wanted.n_samples));
    }
    return result;
}

OrderTables::OrderTables(const ParentWeights& weights, const double* log_q)
    : weights_(weights), log_q_(log_q), n_(weights.n_variables()), sums_(n_sets(n_)) {}

Scaled OrderTables::last(int x, VarSet placed) const {
    const VarSet before = placed & ~only(x);
    const Scaled ways = sums_[before] * weights_.scaled_sum(x, before);
    if (log_q_ == nullptr) return ways;
    return ways * exponential(log_q_[static_cast<std::size_t>(x) * n_sets(n_ - 1) + without_bit(before, x)]);
}

bool OrderTables::fill(Limits& limits) {
    constexpr std::size_t run = 256;
    std::vector<std::vector<VarSet>> by_size(n_ + 1);
    for (VarSet placed = 0; placed <= all_of(n_); ++placed) by_size[size_of(placed)].push_back(placed);
    limits.begin(Phase::ordering, n_sets(n_));
    sums_[0] = {1.0L, 0};
    for (int size = 1; size <= n_ && !limits.reached(); ++size) {
        const std::vector<VarSet>& sets = by_size[size];
        parallel_for((sets.size() + run - 1) / run, limits, [&](std::size_t part, int) {
            for (std::size_t i = part * run; i < std::min(sets.size(), (part + 1) * run); ++i)
                for (VarSet rest = sets[i]; rest != 0; rest &= rest - 1)
                    sums_[sets[i]] = sums_[sets[i]] + last(first_of(rest), sets[i]);
            limits.done += run;
        });
    }
    return !limits.stop.load();
}

NetworkSamples sample_by_orders(const OrderTables& sums, const Sampling& wanted, Limits& limits) {
    const int n = sums.weights().n_variables();
    NetworkSamples result;
    result.is_possible = sums.sum(all_of(n)).mantissa > 0.0L;
    if (!result.is_possible) return result;
    result.parents.assign(wanted.n_samples * n, 0);
    std::vector<OrderWorker> workers;
    for (int i = 0; i < limits.threads; ++i) workers.emplace_back(sums, wanted, result);
    result.finished = advance_all(at_the_start(wanted.n_samples, all_of(n)), 0, workers, result, limits);
    result.places = result.pasts;
    result.error = 4.0 * n * n * std::numeric_limits<double>::epsilon();
    return result;
}

}  // namespace topdag
