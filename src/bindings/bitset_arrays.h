// bitset_arrays.h: sets of variables as numpy arrays and Python numbers: one word each for up to 64 variables, rows of
// words for more; and how wide sets the core is asked to use.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "binding.h"

namespace topdag {

using SetsIn = nb::ndarray<const std::uint64_t, nb::c_contig, nb::device::cpu>;  // rows of words, or one word a set
using SetsOut = nb::ndarray<nb::numpy, std::uint64_t>;
using Words = std::vector<std::uint64_t>;

// Does the work with the first of these sets, from narrow to wide, that hold so many variables.
template <class Set, class... Wider, class Work>
auto with_width(std::size_t n, Work&& work) {
    if constexpr (sizeof...(Wider) > 0)
        if (n > most_variables<Set>) return with_width<Wider...>(n, std::forward<Work>(work));
    require(n <= most_variables<Set>, "too many variables");
    return work.template operator()<Set>();
}

inline std::size_t words_each(const SetsIn& sets) {
    require(sets.ndim() == 1 || sets.ndim() == 2, "rows of words");
    return sets.ndim() == 1 ? 1 : sets.shape(1);
}

// How many variables sets hold that are as wide as n variables and these arrays ask for.
inline std::size_t width_of(int n, const SetsIn& sets) {
    require(n >= 1, "no variables");
    return std::max(static_cast<std::size_t>(n), 64 * words_each(sets));
}

template <class Set>
std::vector<Set> sets_from(const SetsIn& array) {
    const std::size_t words = words_each(array);
    require(64 * words <= most_variables<Set>, "too many words");
    std::vector<Set> sets;
    for (std::size_t i = 0; i < array.shape(0); ++i)
        sets.push_back(set_of_words<Set>(array.data() + i * words, static_cast<int>(words)));
    return sets;
}

inline SetsOut give_words(Words words, int n) {
    const auto [owned, owner] = given_to_python(std::move(words));
    const auto width = static_cast<std::size_t>(words_for(n));
    if (width == 1) return SetsOut(owned->data(), {owned->size()}, owner);
    return SetsOut(owned->data(), {owned->size() / width, width}, owner);
}

// Sets of n variables.
template <class Set>
SetsOut give_sets(const std::vector<Set>& sets, int n) {
    Words words;
    for (const Set& set : sets)
        for (int w = 0; w < words_for(n); ++w) words.push_back(word_of(set, w));
    return give_words(std::move(words), n);
}

inline nb::int_ number_of_words(const Words& words) {
    const nb::bytes bytes(words.data(), 8 * words.size());
    return nb::cast<nb::int_>(nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type)).attr("from_bytes")(bytes, "little"));
}

// As many words as sets of n variables take.
inline Words words_in(const nb::int_& number, int n) {
    Words words(static_cast<std::size_t>(words_for(n)));
    const nb::bytes bytes = nb::cast<nb::bytes>(number.attr("to_bytes")(8 * words.size(), "little"));
    std::memcpy(words.data(), bytes.c_str(), 8 * words.size());
    return words;
}

template <class Set>
nb::int_ number_of(const Set& set) {
    Words words;
    for (int w = 0; w < most_variables<Set> / 64; ++w) words.push_back(word_of(set, w));
    return number_of_words(words);
}
template <>
inline nb::int_ number_of(const VarSet& set) { return nb::int_(set); }

template <class Set>
Set set_of_number(const nb::int_& number) {
    const Words words = words_in(number, most_variables<Set>);
    return set_of_words<Set>(words.data(), static_cast<int>(words.size()));
}

template <class Set>
std::vector<nb::int_> numbers_of(const std::vector<Set>& sets) {
    std::vector<nb::int_> numbers;
    for (const Set& set : sets) numbers.push_back(number_of(set));
    return numbers;
}

// All of n variables but x that stand in a word.
inline VarSet others_in_word(int n, int x, int word) {
    const VarSet all = 64 * word >= n ? 0 : all_of(std::min(64, n - 64 * word));
    return x / 64 == word ? all & ~only(x % 64) : all;
}

// Families by variable: those of x stand from offsets[x] to offsets[x + 1], with parents among the others.
inline void check_families(int n, const Offsets& offsets, const SetsIn& parents) {
    const std::int64_t* at = offsets.data();
    require(n >= 1 && offsets.shape(0) == static_cast<std::size_t>(n) + 1, "sizes differ");
    require(at[0] == 0 && at[n] == static_cast<std::int64_t>(parents.shape(0)), "offsets");
    const auto words = static_cast<int>(words_each(parents));
    for (int x = 0; x < n; ++x) {
        require(at[x] <= at[x + 1], "offsets must not fall");
        for (int w = 0; w < words; ++w) {
            const VarSet others = others_in_word(n, x, w);
            for (std::int64_t i = at[x]; i < at[x + 1]; ++i)
                require(is_subset(parents.data()[i * words + w], others), "a family out of range");
        }
    }
}

}  // namespace topdag
