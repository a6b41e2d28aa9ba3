// var_set.h: sets of variables as bits; bit v set means variable v is in the set.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace topdag {

using VarSet = std::uint64_t;
using WideSet = unsigned __int128;  // up to 128 variables, for what is written for any set

template <class Set = VarSet>
constexpr Set only(int v) {
    if constexpr (requires(Set set) { set.words; }) {
        Set set;
        set.words[v / 64] = VarSet{1} << v % 64;
        return set;
    } else {
        return Set{1} << v;
    }
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

// A set of so many words, lowest variables first. As far as sets need it, it reads like a number, so that what is written
// for sets holds for all of them.
template <int Words>
struct WordSet {
    VarSet words[Words]{};

    constexpr WordSet() = default;
    constexpr WordSet(VarSet low) { words[0] = low; }  // NOLINT: 0 is the empty set

    constexpr bool operator==(const WordSet&) const = default;
    constexpr bool operator<(const WordSet& other) const {
        for (int w = Words - 1; w > 0; --w)
            if (words[w] != other.words[w]) return words[w] < other.words[w];
        return words[0] < other.words[0];
    }
    constexpr explicit operator bool() const {
        VarSet any = 0;
        for (const VarSet word : words) any |= word;
        return any != 0;
    }
    constexpr WordSet& operator&=(const WordSet& other) {
        for (int w = 0; w < Words; ++w) words[w] &= other.words[w];
        return *this;
    }
    constexpr WordSet& operator|=(const WordSet& other) {
        for (int w = 0; w < Words; ++w) words[w] |= other.words[w];
        return *this;
    }
    constexpr WordSet operator~() const {
        WordSet others;
        for (int w = 0; w < Words; ++w) others.words[w] = ~words[w];
        return others;
    }
    friend constexpr WordSet operator&(WordSet a, const WordSet& b) { return a &= b; }
    friend constexpr WordSet operator|(WordSet a, const WordSet& b) { return a |= b; }
    // As a number; for `set & (set - 1)`, the set without its first member, and for all variables before one.
    friend constexpr WordSet operator-(WordSet a, VarSet b) {
        for (int w = 0; w < Words; ++w) {
            const bool borrows = a.words[w] < b;
            a.words[w] -= b;
            if (!borrows) break;
            b = 1;
        }
        return a;
    }
};

using BroadSet = WordSet<8>;   // up to 512 variables
using VastSet = WordSet<32>;   // up to 2,048

template <class Set>
inline constexpr bool is_word_set = false;
template <int Words>
inline constexpr bool is_word_set<WordSet<Words>> = true;
template <class Set>
concept ManyWords = is_word_set<Set>;

// How many variables the sets of a type hold.
template <class Set>
inline constexpr int most_variables = static_cast<int>(8 * sizeof(Set));

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

// The words of any set, lowest variables first.
constexpr int words_for(int n) { return n <= 64 ? 1 : (n + 63) / 64; }
template <class Set>
constexpr VarSet word_of(const Set& set, int w) {
    if constexpr (ManyWords<Set>)
        return set.words[w];
    else
        return static_cast<VarSet>(set >> 64 * w);
}
template <class Set>
constexpr Set set_of_words(const VarSet* words, int n_words) {
    Set set = 0;
    for (int w = 0; w < n_words; ++w) {
        if constexpr (ManyWords<Set>)
            set.words[w] = words[w];
        else
            set |= Set{words[w]} << 64 * w;
    }
    return set;
}

template <ManyWords Set>
constexpr bool has(const Set& set, int v) {
    return has(set.words[v / 64], v % 64);
}
template <ManyWords Set>
constexpr bool is_subset(const Set& inner, const Set& outer) {
    VarSet outside = 0;
    for (std::size_t w = 0; w < std::size(inner.words); ++w) outside |= inner.words[w] & ~outer.words[w];
    return outside == 0;
}
template <ManyWords Set>
constexpr int size_of(const Set& set) {
    int size = 0;
    for (const VarSet word : set.words)
        if (word != 0) size += size_of(word);  // most are empty
    return size;
}
template <ManyWords Set>
constexpr int first_of(const Set& set) {
    int w = 0;
    while (set.words[w] == 0) ++w;
    return 64 * w + first_of(set.words[w]);
}
template <ManyWords Set>
constexpr int last_of(const Set& set) {
    int w = most_variables<Set> / 64 - 1;
    while (w > 0 && set.words[w] == 0) --w;
    return 64 * w + last_of(set.words[w]);
}

// All variables before the first of a set that is not empty.
template <class Set>
constexpr Set before_first(const Set& set) {
    if constexpr (ManyWords<Set>)
        return only<Set>(first_of(set)) - 1;
    else
        return (set & -set) - 1;
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
