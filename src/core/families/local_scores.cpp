#include "families/local_scores.h"

#include <algorithm>

#include "base/simd.h"
#include "base/slot_runs.h"

namespace topdag {

namespace {


// out = joint - below by slots. Where joint is minus infinity, below may be too; their difference must not become NaN.
TOPDAG_SIMD void subtract(const double* joint, const double* below, std::size_t run, std::size_t count, double* out) {
    for_each_in_runs(run, count, [=](std::size_t slot, std::size_t set) __attribute__((always_inline)) {
        const double value = joint[set];
        out[slot] = value == not_allowed ? not_allowed : value - below[set];
    });
}

TOPDAG_SIMD void forbid(VarSet must, VarSet outside, std::size_t count, double* out) {
    for (std::size_t slot = 0; slot < count; ++slot)
        out[slot] = ((slot & must) == must && (slot & outside) == 0) ? out[slot] : not_allowed;
}

void forbid_sizes(int least, int most, std::size_t count, double* out) {
    for (std::size_t slot = 0; slot < count; ++slot)
        if (size_of(slot) < least || size_of(slot) > most) out[slot] = not_allowed;
}

}  // namespace

void DifferenceScores::fill(int x, std::size_t begin, std::size_t count, double* out) const {
    const ParentLimits limits = limits_.empty() ? ParentLimits{} : limits_[x];
    const VarSet must = without_bit(limits.must, x), outside = ~without_bit(limits.may, x) & all_of(n_ - 1);
    const VarSet low = count - 1;  // the slots begin at a multiple of their number
    if ((begin & outside & ~low) != 0 || !is_subset(must & ~low, begin)) {
        std::fill(out, out + count, not_allowed);
        return;
    }
    const std::size_t run = std::min<std::size_t>(count, only(x));  // slots that are neighbours as sets too
    const VarSet set = with_gap(begin, x);
    subtract(joint_ + (set | only(x)), below_[x] + set, run, count, out);
    if (((must | outside) & low) != 0) forbid(must & low, outside & low, count, out);
    const int above = size_of(begin & ~low);
    if (limits.least > above || limits.most < above + size_of(low))
        forbid_sizes(limits.least - above, limits.most - above, count, out);
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
