// open_levels.cpp
#include "scoring/open_levels.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/parallel.h"
#include "base/simd.h"

namespace topdag {

TOPDAG_SIMD void best_of_subsets(const Level<double>& before, const std::uint32_t* subsets, int size, VarSet variables,
                                 double* best) {
    for (VarSet rest = variables; rest != 0; rest &= rest - 1, ++best) {
        const VarSet lower = (rest & -rest) - 1;
        double most = minus_infinity;
        for (int g = 0; g < size; ++g) {
            const std::size_t at = subsets[g];
            most = std::max(most, before.best[at][__builtin_popcountll(before.open[at] & lower)]);
        }
        *best = most;
    }
}

TOPDAG_SIMD VarSet best_of_hopeful(const Level<DrawnRows::Score>& before, const std::uint32_t* subsets, int size,
                                   VarSet variables, const MostByCells& most, DrawnRows::Score* best) {
    VarSet hopeful = 0;
    for (VarSet rest = variables; rest != 0; rest &= rest - 1) {
        const VarSet lower = (rest & -rest) - 1;
        const int x = __builtin_ctzll(rest);
        for (int d = 0; d < draws_at_once; ++d) best->of[d] = minus_infinity;
        for (int g = 0; g < size; ++g) {
            const std::size_t at = subsets[g];
            const DrawnRows::Score& own = before.best[at][__builtin_popcountll(before.open[at] & lower)];
            for (int d = 0; d < draws_at_once; ++d) best->of[d] = std::max(best->of[d], own.of[d]);
        }
        int n_hopeful = 0;
        for (int d = 0; d < draws_at_once; ++d)
            n_hopeful += best->of[d] < most.most[x].of[d] - most.cost[x] * most.cells;
        if (n_hopeful == 0) continue;
        hopeful |= rest & -rest;
        ++best;
    }
    return hopeful;
}

// They are dealt out by their two highest members first.
std::vector<VarSet> all_wanted(const std::vector<std::vector<VarSet>*>& batches, Limits& limits) {
    constexpr std::size_t n_parts = 64 * 64;
    const auto part_of = [](VarSet set) {
        const int highest = 63 - std::countl_zero(set);
        const VarSet rest = set & ~only(highest);
        const int second = rest == 0 ? 0 : 63 - std::countl_zero(rest);
        return static_cast<std::size_t>(highest * 64 + second);
    };
    std::vector<std::size_t> ends(n_parts + 1, 0);
    for (const std::vector<VarSet>* batch : batches)
        for (VarSet set : *batch) ++ends[part_of(set) + 1];
    for (std::size_t part = 0; part < n_parts; ++part) ends[part + 1] += ends[part];
    std::vector<VarSet> wanted(ends[n_parts]);
    std::vector<std::size_t> next(ends.begin(), ends.end() - 1);
    for (std::vector<VarSet>* batch : batches) {
        for (VarSet set : *batch) wanted[next[part_of(set)]++] = set;
        std::vector<VarSet>().swap(*batch);
    }
    parallel_for(n_parts, limits, [&](std::size_t part, int) {
        const auto begin = wanted.begin() + static_cast<std::ptrdiff_t>(ends[part]);
        const auto end = wanted.begin() + static_cast<std::ptrdiff_t>(ends[part + 1]);
        std::sort(begin, end);
        next[part] = static_cast<std::size_t>(std::unique(begin, end) - wanted.begin());
    });
    std::size_t size = 0;
    for (std::size_t part = 0; part < n_parts; ++part)
        for (std::size_t i = ends[part]; i < next[part]; ++i) wanted[size++] = wanted[i];
    wanted.resize(size);
    return wanted;
}

}  // namespace topdag
