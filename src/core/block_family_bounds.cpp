#include "block_family_bounds.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "big_array.h"
#include "parallel.h"
#include "sweeps.h"

namespace topdag {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr double first_depth = 1.0;      // nats below the best where k families are first looked for
constexpr double deepest = 1 << 14;      // then all are taken

// The families of one variable with M at least a threshold. All sets are slots of x.
class FamiliesOfVariable {
public:
    FamiliesOfVariable(const BlockLattice& lattice, int x, int threads, Limits& limits)
        : lattice_(lattice),
          parents_(lattice.parents_of(x)),
          x_(x),
          threads_(threads),
          limits_(limits),
          workspaces_(threads) {}

    // Best local score first, ties by their bits; incomplete when a limit stopped it.
    std::vector<ScoredFamily> reaching(double threshold) {
        threshold_ = std::max(threshold, std::numeric_limits<double>::lowest());  // what is not allowed reaches none
        gather();
        bound_tops();
        return sift();
    }

private:
    struct Before {       // a set that may come before x
        double value;     // F + H
        std::uint32_t low;
    };
    struct Workspace {
        BigArray local;
        BigArray table;
    };

    std::size_t block_size() const { return n_sets(parents_.low_bits()); }
    VarSet set_at(VarSet top, std::size_t low) const { return with_gap((top << parents_.low_bits()) | low, x_); }
    bool is_reached(double value) const { return value >= threshold_; }

    template <class Visit>
    void for_each_top(Visit&& visit) {
        parallel_for(parents_.n_tops(), threads_, limits_, [&](std::size_t top, int worker) {
            Workspace& work = workspaces_[worker];
            if (work.local.size() == 0) work = {BigArray(block_size()), BigArray(block_size())};
            visit(top, work);
        });
    }

    // All Y with F(Y) + best(x, Y) + H(Y + x) at the threshold.
    void gather() {
        before_.assign(parents_.n_tops(), {});
        for_each_top([&](VarSet top, Workspace& work) {
            if (!is_reached(lattice_.reach(x_, top))) return;
            parents_.fill(top, work.table.data());
            lattice_.fill_around(x_, top, work.local.data());
            for_each_sum_reaching(work.local.data(), work.table.data(), threshold_, block_size(), [&](std::size_t low) {
                before_[top].push_back({work.local[low], static_cast<std::uint32_t>(low)});
            });
        });
    }

    // The most that any gathered set gives whose top includes this one.
    void bound_tops() {
        most_.assign(before_.size(), minus_infinity);
        for (VarSet top = 0; top < before_.size(); ++top)
            for (const Before& set : before_[top]) most_[top] = std::max(most_[top], set.value);
        for (VarSet bit = 1; bit < most_.size(); bit <<= 1)
            for (VarSet top = 0; top < most_.size(); ++top)
                if ((top & bit) == 0) most_[top] = std::max(most_[top], most_[top | bit]);
    }

    std::vector<ScoredFamily> sift() {
        std::vector<std::vector<ScoredFamily>> found(before_.size());
        for_each_top([&](VarSet top, Workspace& work) {
            if (is_reached(most_[top] + parents_.largest_local(top))) found[top] = sift_block(top, work);
        });
        std::vector<ScoredFamily> families;
        for (const auto& some : found) families.insert(families.end(), some.begin(), some.end());
        std::sort(families.begin(), families.end(), [](const ScoredFamily& a, const ScoredFamily& b) {
            return a.score != b.score ? a.score > b.score : a.parents < b.parents;
        });
        return families;
    }

    // Maxima over supersets: those over subsets of the complements.
    std::vector<ScoredFamily> sift_block(VarSet top, Workspace& work) const {
        const std::size_t all_low = block_size() - 1;
        const VarSet free = (before_.size() - 1) & ~top;
        double* table = work.table.data();
        std::fill(table, table + block_size(), minus_infinity);
        for (VarSet more = free;; more = (more - 1) & free) {
            for (const Before& set : before_[top | more]) {
                double& value = table[all_low ^ set.low];
                value = std::max(value, set.value);
            }
            if (more == 0) break;
        }
        max_over_subsets(table, parents_.low_bits());
        std::reverse(table, table + block_size());
        const double* local = work.local.data();
        lattice_.scores().fill(x_, top << parents_.low_bits(), block_size(), work.local.data());
        std::vector<ScoredFamily> families;
        for_each_sum_reaching(local, table, threshold_, block_size(), [&](std::size_t low) {
            families.push_back({set_at(top, low), local[low], local[low] + table[low]});
        });
        return families;
    }

    const BlockLattice& lattice_;
    const UndominatedSets& parents_;
    int x_;
    int threads_;
    Limits& limits_;
    double threshold_ = 0.0;
    std::vector<Workspace> workspaces_;
    std::vector<std::vector<Before>> before_;  // by top
    std::vector<double> most_;                 // by top
};

// The k-th largest bound, or the k-th largest of those that differ; minus infinity when there are not so many.
double kth_bound(const std::vector<ScoredFamily>& families, std::size_t k, bool distinct) {
    std::vector<double> bounds;
    for (const ScoredFamily& family : families) bounds.push_back(family.bound);
    std::sort(bounds.begin(), bounds.end(), std::greater<>());
    if (distinct) bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    return bounds.size() < k ? minus_infinity : bounds[k - 1];
}

std::size_t blocks_reaching(const BlockLattice& lattice, int x, double threshold) {
    std::size_t count = 0;
    for (VarSet top = 0; top < lattice.parents_of(x).n_tops(); ++top) count += lattice.reach(x, top) >= threshold;
    return count;
}

// Variables with many blocks that reach the threshold first: they are likely to have many families.
std::vector<int> widest_first(const BlockLattice& lattice, double threshold) {
    std::vector<std::size_t> width;
    for (int x = 0; x < lattice.n_variables(); ++x) width.push_back(blocks_reaching(lattice, x, threshold));
    std::vector<int> order(width.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return width[a] > width[b]; });
    return order;
}

// A score that k families of one variable reach; minus infinity when they are too far down.
double some_floor(const BlockLattice& lattice, std::size_t k, bool of_classes, int threads, Limits& limits) {
    const double best = lattice.forward(n_sets(lattice.n_variables()) - 1);
    for (double depth = first_depth; depth <= deepest && !limits.reached(); depth *= 2) {
        const int x = widest_first(lattice, best - depth).front();
        const double floor =
            kth_bound(FamiliesOfVariable(lattice, x, threads, limits).reaching(best - depth), k, of_classes);
        if (floor > minus_infinity) return floor;
    }
    return minus_infinity;
}

}  // namespace

FamilyTable families_reaching(const BlockLattice& lattice, double threshold, int threads, Limits& limits) {
    const int n = lattice.n_variables();
    FamilyTable families(n);
    limits.begin(Phase::bounding, n);
    for (int x = 0; x < n; ++x) {
        families[x] = FamiliesOfVariable(lattice, x, threads, limits).reaching(threshold);
        ++limits.done;
    }
    if (limits.stop.load()) families.clear();
    return families;
}

KBestFamilies families_for_k_best(const BlockLattice& lattice, std::size_t k, bool of_classes, int threads,
                                  Limits& limits) {
    const int n = lattice.n_variables();
    limits.begin(Phase::bounding, n);
    KBestFamilies result{FamilyTable(n), some_floor(lattice, k, of_classes, threads, limits)};
    for (int x : widest_first(lattice, result.floor)) {
        result.families[x] = FamiliesOfVariable(lattice, x, threads, limits).reaching(result.floor);
        result.floor = std::max(result.floor, kth_bound(result.families[x], k, of_classes));
        ++limits.done;
    }
    for (std::vector<ScoredFamily>& own : result.families)
        std::erase_if(own, [&](const ScoredFamily& family) { return family.bound < result.floor; });
    if (limits.stop.load()) result.families.clear();
    return result;
}

}  // namespace topdag
