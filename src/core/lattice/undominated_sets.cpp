#include "lattice/undominated_sets.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/simd.h"
#include "lattice/sweeps.h"

namespace topdag {

namespace {

constexpr double not_new = infinity;  // equals no score
constexpr std::size_t chunk = 64;

// Raises the table to the local scores; those that do not raise it are struck out.
TOPDAG_SIMD void merge(double* local, double* table, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const double own = local[i];
        const double known = table[i];
        local[i] = known < own ? own : not_new;
        table[i] = known < own ? own : known;
    }
}

// How many places hold the same in both, chunk by chunk.
TOPDAG_SIMD void count_equal(const double* a, const double* b, std::size_t chunks, std::uint8_t* equal) {
    for (std::size_t c = 0; c < chunks; ++c) {
        std::int64_t same = 0;
        for (std::size_t i = c * chunk; i < (c + 1) * chunk; ++i) same += a[i] == b[i] ? 1 : 0;
        equal[c] = static_cast<std::uint8_t>(same);
    }
}

// The first place from `begin` on whose bits all lie inside `set`; there must be one.
TOPDAG_SIMD std::size_t first_inside(const std::uint32_t* slots, std::size_t begin, std::size_t count,
                                     std::uint32_t set) {
    const std::uint32_t outside = ~set;
    for (; begin + chunk <= count; begin += chunk) {
        std::uint32_t inside = 0;
        for (std::size_t i = begin; i < begin + chunk; ++i) inside |= (slots[i] & outside) == 0 ? 1U : 0U;
        if (inside != 0) break;
    }
    while ((slots[begin] & outside) != 0) ++begin;
    return begin;
}

}  // namespace

UndominatedSets::UndominatedSets(int n, int low_bits, int narrow_bits)
    : low_bits_(low_bits), narrow_bits_(narrow_bits), by_top_(n_sets(n - 1 - low_bits)), largest_local_(by_top_.size(), minus_infinity) {}

void UndominatedSets::scatter(VarSet top, double* table) const {
    std::fill(table, table + n_sets(low_bits_), minus_infinity);
    for (VarSet part = top;; part = (part - 1) & top) {
        for (const Entry& entry : by_top_[part]) table[entry.low] = std::max(table[entry.low], entry.score);
        if (part == 0) break;
    }
}

// A set is dominated by one with the same place in a smaller block, which merge has seen, or by one with fewer low
// bits, which is inside the set without some low bit.
void UndominatedSets::settle(VarSet top, double* local, double* table) {
    const std::size_t size = n_sets(low_bits_);
    largest_local_[top] = largest(local, size);
    merge(local, table, size);
    max_over_subsets(table, low_bits_);
    auto take_from = [&](std::size_t begin, std::size_t end) {
        for (std::size_t low = begin; low < end; ++low)
            if (local[low] == table[low] && !is_dominated(table, low))
                by_top_[top].push_back({table[low], static_cast<std::uint32_t>(low)});
    };
    if (size < chunk) return take_from(0, size);
    std::uint8_t equal[chunk];
    for (std::size_t begin = 0; begin < size; begin += chunk * chunk) {
        const std::size_t chunks = std::min(chunk, (size - begin) / chunk);
        count_equal(local + begin, table + begin, chunks, equal);
        for (std::size_t c = 0; c < chunks; ++c)
            if (equal[c] != 0) take_from(begin + c * chunk, begin + (c + 1) * chunk);
    }
}

bool UndominatedSets::is_dominated(const double* table, std::size_t low) const {
    for (std::size_t rest = low; rest != 0; rest &= rest - 1)
        if (table[low & ~(rest & -rest)] == table[low]) return true;
    return false;
}

void UndominatedSets::fill(VarSet top, double* table) const {
    scatter(top, table);
    max_over_subsets(table, low_bits_);
}

void UndominatedSets::finish() {
    struct Scored {
        double score;
        VarSet slot;
    };
    std::vector<Scored> all;
    for (VarSet top = 0; top < by_top_.size(); ++top)
        for (const Entry& entry : by_top_[top])
            all.push_back({entry.score, top << low_bits_ | entry.low});
    std::sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) {
        return a.score != b.score ? a.score > b.score : a.slot < b.slot;
    });
    all.push_back({minus_infinity, 0});
    const bool is_wide = by_top_.size() << low_bits_ > n_sets(narrow_bits_);
    slots_.reserve(all.size());
    scores_.reserve(all.size());
    above_.reserve(is_wide ? all.size() : 0);
    for (const Scored& one : all) {
        slots_.push_back(static_cast<std::uint32_t>(one.slot & all_of(narrow_bits_)));
        scores_.push_back(one.score);
        if (is_wide) above_.push_back(static_cast<std::uint32_t>(one.slot >> narrow_bits_));
    }
}

double UndominatedSets::best(VarSet slot) const {
    const auto narrow = static_cast<std::uint32_t>(slot & all_of(narrow_bits_));
    for (std::size_t at = 0;; ++at) {
        at = first_inside(slots_.data(), at, slots_.size(), narrow);
        if (above_.empty() || is_subset(above_[at], slot >> narrow_bits_)) return scores_[at];
    }
}

}  // namespace topdag
