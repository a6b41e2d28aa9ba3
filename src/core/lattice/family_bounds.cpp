#include "lattice/family_bounds.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>

#include "base/infinity.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "lattice/sweeps.h"

namespace topdag {

namespace {

TOPDAG_SIMD void raise(double* lower, const double* upper, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) lower[i] = lower[i] < upper[i] ? upper[i] : lower[i];
}

// M(x, .) by slot; `local` receives the local scores. Both have a place for every slot.
void bound_families(const Lattice& lattice, int x, BigArray& local, BigArray& bound) {
    const int n = lattice.n_variables();
    const std::size_t size = n_sets(n - 1);
    for (VarSet slot = 0; slot < size; ++slot) {
        const VarSet placed = with_gap(slot, x);
        bound[slot] = lattice.forward(placed) + lattice.backward(placed | only(x));
    }
    gather_supersets(bound.data(), n - 1, raise);
    lattice.scores().fill(x, 0, size, local.data());
    for (std::size_t slot = 0; slot < size; ++slot) bound[slot] += local[slot];
}

AllBounds all_bounds(const Lattice& lattice) {
    return {lattice.n_variables(),
            [&](int x, BigArray& local, BigArray& bound) { bound_families(lattice, x, local, bound); }};
}

template <class Visit>
void for_each_variable(const AllBounds& bounds, Limits& limits, Visit&& visit) {
    const int n = bounds.n_variables;
    limits.begin(Phase::bounding, n);
    struct Buffers { BigArray local, bound; };
    std::vector<Buffers> buffers(limits.threads);
    parallel_for(n, limits, [&](std::size_t x, int worker) {
        auto& [local, bound] = buffers[worker];
        if (local.size() == 0) buffers[worker] = {BigArray(n_sets(n - 1)), BigArray(n_sets(n - 1))};
        bounds.fill(static_cast<int>(x), local, bound);
        visit(static_cast<int>(x), local, bound);
        ++limits.done;
    });
}

std::vector<ScoredFamily> reaching(int x, const BigArray& local, const BigArray& bound, double threshold) {
    std::vector<ScoredFamily> families;
    for (VarSet slot = 0; slot < bound.size(); ++slot)
        if (bound[slot] >= threshold && bound[slot] > minus_infinity)
            families.push_back({with_gap(slot, x), local[slot], bound[slot]});
    std::sort(families.begin(), families.end(), [](const ScoredFamily& a, const ScoredFamily& b) {
        return a.score != b.score ? a.score > b.score : a.parents < b.parents;
    });
    return families;
}

// The k-th largest of the values above `known`, or the k-th largest of those that differ; minus infinity when there
// are not so many.
double kth_largest(const BigArray& bound, double known, std::size_t k, bool distinct) {
    std::vector<double> values;
    std::copy_if(bound.data(), bound.data() + bound.size(), std::back_inserter(values), [&](double v) { return v > known; });
    for (std::size_t taken = k; taken <= values.size(); taken *= 8) {
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(taken);
        std::nth_element(values.begin(), end - 1, values.end(), std::greater<>());
        if (!distinct) return *(end - 1);
        std::vector<double> different(values.begin(), end);
        std::sort(different.begin(), different.end(), std::greater<>());
        different.erase(std::unique(different.begin(), different.end()), different.end());
        if (different.size() >= k) return different[k - 1];
    }
    return minus_infinity;  // or so many ties that it does not pay to look on
}

}  // namespace

FamilyTable families_reaching(const AllBounds& bounds, double threshold, Limits& limits) {
    FamilyTable families(bounds.n_variables);
    for_each_variable(bounds, limits, [&](int x, const BigArray& local, const BigArray& bound) {
        families[x] = reaching(x, local, bound, threshold);
    });
    if (limits.stop.load()) families.clear();
    return families;
}

KBestFamilies families_for_k_best(const AllBounds& bounds, std::size_t k, bool of_classes, Limits& limits) {
    KBestFamilies result{FamilyTable(bounds.n_variables), minus_infinity};
    std::atomic<double> floor{minus_infinity};
    for_each_variable(bounds, limits, [&](int x, const BigArray& local, const BigArray& bound) {
        double known = floor.load();
        const double own = kth_largest(bound, known, k, of_classes);
        while (known < own && !floor.compare_exchange_weak(known, own)) {
        }
        result.families[x] = reaching(x, local, bound, floor.load());
    });
    result.floor = floor.load();
    for (std::vector<ScoredFamily>& own : result.families)
        std::erase_if(own, [&](const ScoredFamily& family) { return family.bound < result.floor; });
    if (limits.stop.load()) result.families.clear();
    return result;
}

FamilyTable families_reaching(const Lattice& lattice, double threshold, Limits& limits) {
    return families_reaching(all_bounds(lattice), threshold, limits);
}

KBestFamilies families_for_k_best(const Lattice& lattice, std::size_t k, bool of_classes, Limits& limits) {
    return families_for_k_best(all_bounds(lattice), k, of_classes, limits);
}

double family_bound(const Lattice& lattice, int x, VarSet parents) {
    const VarSet free = (n_sets(lattice.n_variables()) - 1) & ~parents & ~only(x);
    double best = minus_infinity;
    for (VarSet more = free;; more = (more - 1) & free) {
        best = std::max(best, lattice.forward(parents | more) + lattice.backward(parents | more | only(x)));
        if (more == 0) break;
    }
    double local = 0.0;
    lattice.scores().fill(x, without_bit(parents, x), 1, &local);
    return best + local;
}

EdgeBounds edge_bounds(const Lattice& lattice, Limits& limits) {
    const auto n = static_cast<std::size_t>(lattice.n_variables());
    EdgeBounds edges{std::vector<double>(n * n, minus_infinity), std::vector<double>(n * n, minus_infinity)};
    for_each_variable(all_bounds(lattice), limits, [&](int x, const BigArray&, BigArray& bound) {
        // From the highest parent down: the halves with and without it, then folded onto each other.
        for (int bit = static_cast<int>(n) - 2; bit >= 0; --bit) {
            const std::size_t half = n_sets(bit);
            const auto p = static_cast<std::size_t>(bit < x ? bit : bit + 1);
            double* values = bound.data();
            edges.without[p * n + static_cast<std::size_t>(x)] = *std::max_element(values, values + half);
            edges.with[p * n + static_cast<std::size_t>(x)] = *std::max_element(values + half, values + 2 * half);
            raise(values, values + half, half);
        }
    });
    if (limits.stop.load()) return {};
    return edges;
}

}  // namespace topdag
