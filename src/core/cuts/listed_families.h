// listed_families.h: families with their parents listed one by one: what is written for them holds for any number of
// variables, and takes no longer where a set of all variables would be many words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/var_set.h"

namespace topdag {

using Variables = std::vector<int>;  // a set of variables, growing
using Parents = std::span<const std::uint16_t>;

class ListedFamilies {
public:
    // Families of v stand from offsets[v] to offsets[v + 1], with so many words for the parents of each.
    ListedFamilies(std::vector<std::int64_t> offsets, const VarSet* words, int words_each) : offsets_(std::move(offsets)) {
        const auto n = static_cast<std::size_t>(offsets_.back());
        for (std::size_t i = 0; i < n; ++i) {
            for (int w = 0; w < words_each; ++w)
                for (VarSet rest = words[i * words_each + w]; rest != 0; rest &= rest - 1)
                    parents_.push_back(static_cast<std::uint16_t>(64 * w + first_of(rest)));
            ends_.push_back(parents_.size());
        }
    }

    int n_variables() const { return static_cast<int>(offsets_.size()) - 1; }
    std::size_t size() const { return ends_.size() - 1; }
    std::size_t begin_of(int v) const { return static_cast<std::size_t>(offsets_[v]); }
    std::size_t end_of(int v) const { return static_cast<std::size_t>(offsets_[v + 1]); }
    Parents parents(std::size_t family) const { return Parents(parents_).subspan(ends_[family], n_parents(family)); }

private:
    std::size_t n_parents(std::size_t family) const { return ends_[family + 1] - ends_[family]; }

    std::vector<std::int64_t> offsets_;
    std::vector<std::size_t> ends_{0};  // of the parents of each family, after those before it
    std::vector<std::uint16_t> parents_;
};

inline bool are_marked(Parents parents, const std::vector<char>& marks) {
    for (const int p : parents)
        if (!marks[p]) return false;
    return true;
}

// How many of the parents are marked.
inline int n_marked(Parents parents, const std::vector<char>& marks) {
    int n = 0;
    for (const int p : parents) n += marks[p];
    return n;
}

}  // namespace topdag
