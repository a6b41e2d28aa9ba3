// var_set.h: sets of variables as bits; bit v set means variable v is in the set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace topdag {

using VarSet = std::uint64_t;

constexpr VarSet only(int v) { return VarSet{1} << v; }
constexpr bool has(VarSet set, int v) { return (set >> v) & 1; }
constexpr bool is_subset(VarSet inner, VarSet outer) { return (inner & ~outer) == 0; }
constexpr int size_of(VarSet set) { return std::popcount(set); }
constexpr int first_of(VarSet set) { return std::countr_zero(set); }
constexpr VarSet all_of(int n) { return n == 64 ? ~VarSet{0} : only(n) - 1; }
constexpr std::size_t n_sets(int n) { return std::size_t{1} << n; }

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
