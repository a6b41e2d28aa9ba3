#include "local_scores.h"

#include <algorithm>
#include <limits>

#include "simd.h"
#include "slot_runs.h"

namespace topdag {

namespace {

constexpr double not_allowed = -std::numeric_limits<double>::infinity();

// out = joint - below by slots. Where joint is minus infinity, below may be too; their difference must not become NaN.
TOPDAG_SIMD void subtract(const double* joint, const double* below, std::size_t run, std::size_t count, double* out) {
    for_each_in_runs(run, count, [=](std::size_t slot, std::size_t set) __attribute__((always_inline)) {
        const double value = joint[set];
        out[slot] = value == not_allowed ? not_allowed : value - below[set];
    });
}

}  // namespace

void DifferenceScores::fill(int x, std::size_t begin, std::size_t count, double* out) const {
    const std::size_t run = std::min<std::size_t>(count, only(x));  // slots that are neighbours as sets too
    const VarSet set = with_gap(begin, x);
    subtract(joint_ + (set | only(x)), below_[x] + set, run, count, out);
}

void FamilyScores::fill(int x, std::size_t begin, std::size_t count, double* out) const {
    const double* own = families_ + static_cast<std::size_t>(x) * n_sets(n_ - 1) + begin;
    std::copy(own, own + count, out);
}

ListedScores::ListedScores(int n, const std::int64_t* offsets, const std::uint64_t* parents, const double* scores)
    : n_(n), entries_(n) {
    for (int x = 0; x < n; ++x) {
        for (std::int64_t i = offsets[x]; i < offsets[x + 1]; ++i)
            entries_[x].push_back({without_bit(parents[i], x), scores[i]});
        std::sort(entries_[x].begin(), entries_[x].end(), [](const Entry& a, const Entry& b) { return a.slot < b.slot; });
    }
}

void ListedScores::fill(int x, std::size_t begin, std::size_t count, double* out) const {
    std::fill(out, out + count, not_allowed);
    const std::vector<Entry>& entries = entries_[x];
    auto entry = std::lower_bound(entries.begin(), entries.end(), begin,
                                  [](const Entry& e, std::size_t slot) { return e.slot < slot; });
    for (; entry != entries.end() && entry->slot < begin + count; ++entry) out[entry->slot - begin] = entry->score;
}

}  // namespace topdag
