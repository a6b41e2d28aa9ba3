// bitset_arrays.h: sets of variables as numpy arrays and Python numbers: one word each for up to 64 variables, rows of
// words for more.
#pragma once

#include <span>
#include <vector>

#include "binding.h"

namespace topdag {

template <class Set>
struct SetArrays {
    using In = nb::ndarray<const std::uint64_t, nb::c_contig, nb::device::cpu>;  // rows of words, or one word a set
    using Out = RowsOut<std::uint64_t>;
    using Number = nb::int_;

    static std::size_t n_sets(const In& array) { return array.shape(0); }

    static int n_words(const In& array) {
        require(array.ndim() == 1 || array.ndim() == 2, "rows of words");
        const std::size_t words = array.ndim() == 1 ? 1 : array.shape(1);
        require(8 * words <= sizeof(Set), "too many words");
        return static_cast<int>(words);
    }

    static Set at(const In& array, std::size_t i) {
        const int words = n_words(array);
        return set_of_words<Set>(array.data() + i * static_cast<std::size_t>(words), words);
    }

    // Sets of n variables.
    static Out give(const std::vector<Set>& sets, int n) {
        std::vector<std::uint64_t> words;
        for (const Set& set : sets)
            for (int w = 0; w < words_for(n); ++w) words.push_back(word_of(set, w));
        return give_rows(std::move(words), static_cast<std::size_t>(words_for(n)));
    }

    static Number number(const Set& set) {
        nb::object number = nb::int_(0);
        for (int w = most_variables<Set> / 64; w-- > 0;)
            number = number << nb::int_(64) | nb::int_(word_of(set, w));
        return nb::cast<nb::int_>(number);
    }

    static Set set_of(const Number& number) {
        const nb::object mask = nb::int_(~std::uint64_t{0});
        std::vector<std::uint64_t> words;
        for (nb::object left = number; !left.equal(nb::int_(0)); left = left >> nb::int_(64)) {
            require(64 * words.size() < most_variables<Set>, "a set of too many variables");
            words.push_back(nb::cast<std::uint64_t>(left & mask));
        }
        return set_of_words<Set>(words.data(), static_cast<int>(words.size()));
    }
};

template <>
struct SetArrays<VarSet> {
    using In = Masks;
    using Out = MasksOut;
    using Number = std::uint64_t;

    static std::size_t n_sets(const In& array) { return array.shape(0); }
    static VarSet at(const In& array, std::size_t i) { return array.data()[i]; }
    static Out give(std::vector<VarSet> sets, int) { return topdag::give(std::move(sets)); }
    static Number number(VarSet set) { return set; }
    static VarSet set_of(Number number) { return number; }
};

template <class Set>
std::vector<Set> sets_from(const typename SetArrays<Set>::In& array) {
    std::vector<Set> sets;
    for (std::size_t i = 0; i < SetArrays<Set>::n_sets(array); ++i) sets.push_back(SetArrays<Set>::at(array, i));
    return sets;
}

template <class Set>
std::vector<typename SetArrays<Set>::Number> numbers_of(const std::vector<Set>& sets) {
    std::vector<typename SetArrays<Set>::Number> numbers;
    for (const Set& set : sets) numbers.push_back(SetArrays<Set>::number(set));
    return numbers;
}

// Families by variable: those of x stand from offsets[x] to offsets[x + 1], with parents among the others.
template <class Set>
void check_families(int n, const Offsets& offsets, const std::vector<Set>& parents) {
    require(n >= 1 && n <= most_variables<Set>, "too many variables, or none");
    const std::int64_t* at = offsets.data();
    require(offsets.shape(0) == static_cast<std::size_t>(n) + 1, "sizes differ");
    require(at[0] == 0 && at[n] == static_cast<std::int64_t>(parents.size()), "offsets");
    for (int x = 0; x < n; ++x) {
        require(at[x] <= at[x + 1], "offsets must not fall");
        for (std::int64_t i = at[x]; i < at[x + 1]; ++i)
            require(is_subset(parents[i], all_of<Set>(n) & ~only<Set>(x)), "a family out of range");
    }
}

// The families of a list, checked once so that the core may trust them.
template <class Set>
CandidatesOf<Set> checked_candidates(int n, const Offsets& offsets, const typename SetArrays<Set>::In& parents_in,
                                     const DoublesIn& scores) {
    const std::vector<Set> parents = sets_from<Set>(parents_in);
    check_families(n, offsets, parents);
    require(parents.size() == scores.shape(0), "sizes differ");
    for (int x = 0; x < n; ++x) require(offsets.data()[x] < offsets.data()[x + 1], "every variable needs a family");
    for (std::size_t i = 0; i < scores.shape(0); ++i) require(std::isfinite(scores.data()[i]), "a score out of range");
    return CandidatesOf<Set>(n, offsets.data(), parents.data(), scores.data());
}

template <class Set>
void bind_candidates(nb::module_& m, const char* name) {
    nb::class_<CandidatesOf<Set>>(m, name, "The families that may be used, as costs against the best of each variable.")
        .def("__init__",
             [](CandidatesOf<Set>* self, int n, const Offsets& offsets, const typename SetArrays<Set>::In& parents,
                const DoublesIn& scores) {
                 new (self) CandidatesOf<Set>(checked_candidates<Set>(n, offsets, parents, scores));
             },
             "n_variables"_a, "offsets"_a, "parents"_a, "scores"_a)
        .def_prop_ro("n_variables", &CandidatesOf<Set>::n_variables)
        .def_prop_ro("size", &CandidatesOf<Set>::size);
}

}  // namespace topdag
