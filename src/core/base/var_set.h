// var_set.h: sets of variables as bits; bit v set means variable v is in the set.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace topdag {

using VarSet = std::uint64_t;
using WideSet = unsigned __int128;  // up to 128 variables, for what is written for both

template <class Set = VarSet>
constexpr Set only(int v) {
    return Set{1} << v;
}
template <class Set = VarSet>
constexpr Set all_of(int n) {
    return n == static_cast<int>(8 * sizeof(Set)) ? ~Set{0} : only<Set>(n) - 1;
}
constexpr bool has(VarSet set, int v) { return (set >> v) & 1; }
constexpr bool is_subset(VarSet inner, VarSet outer) { return (inner & ~outer) == 0; }
constexpr int size_of(VarSet set) { return std::popcount(set); }
constexpr int first_of(VarSet set) { return std::countr_zero(set); }
constexpr int last_of(VarSet set) { return 63 - std::countl_zero(set); }

// The words of a wide set, lowest variables first.
constexpr VarSet low_word(WideSet set) { return static_cast<VarSet>(set); }
constexpr VarSet high_word(WideSet set) { return static_cast<VarSet>(set >> 64); }
constexpr WideSet joined(VarSet low, VarSet high) { return WideSet{high} << 64 | low; }

// Templates, so that numbers of other types are taken for narrow sets.
template <std::same_as<WideSet> Set>
constexpr bool has(Set set, int v) {
    return (set >> v) & 1;
}
template <std::same_as<WideSet> Set>
constexpr bool is_subset(Set inner, Set outer) {
    return (inner & ~outer) == 0;
}
template <std::same_as<WideSet> Set>
constexpr int size_of(Set set) {
    return size_of(low_word(set)) + size_of(high_word(set));
}
template <std::same_as<WideSet> Set>
constexpr int first_of(Set set) {
    return low_word(set) != 0 ? first_of(low_word(set)) : 64 + first_of(high_word(set));
}
template <std::same_as<WideSet> Set>
constexpr int last_of(Set set) {
    return high_word(set) != 0 ? 64 + last_of(high_word(set)) : last_of(low_word(set));
}

constexpr std::size_t n_sets(int n) { return std::size_t{1} << n; }
// The same for sizes in bytes, which are asked for also where no memory holds so many.
constexpr double many_sets(int n) {
    return static_cast<double>(n_sets(n / 2)) * static_cast<double>(n_sets(n - n / 2));
}
// Tables over all sets have at most so many variables: their bytes could not be counted otherwise, let alone held.
constexpr int most_in_tables = 56;

// A number from a set in which every bit depends on many of its members, for tables of sets.
constexpr std::uint64_t scrambled(VarSet set) {
    const std::uint64_t product = set * 0x9e3779b97f4a7c15ULL;
    return product ^ (product >> 32);
}

// The bits of a set without bit v, closed up: where a set that lacks v stands in a table of 2^(n-1).
constexpr VarSet without_bit(VarSet set, int v) {
    const VarSet low = only(v) - 1;
    return (set & low) | ((set >> 1) & ~low);
}

// The inverse: opens a zero bit at v.
constexpr VarSet with_gap(VarSet set, int v) {
    const VarSet low = only(v) - 1;
    return (set & low) | ((set & ~low) << 1);
}

}  // namespace topdag
