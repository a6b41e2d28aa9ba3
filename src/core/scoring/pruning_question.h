// pruning_question.h: which families are asked for where not all are scored, and the answer.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "counting/sparse_counts.h"
#include "scoring/set_scores.h"

namespace topdag {

// What cuts a parent set and all its supersets off.
enum class CutRule : int { max_parents, penalty, entropy, cells, atoms };
constexpr int n_cut_rules = 5;

struct PruningQuestion {
    SetFormula joint;
    std::vector<SetFormula> below;  // the functions of the parents; empty: joint itself
    std::vector<int> below_of;      // by variable: which of them
    int max_parents;
    double epsilon;       // as for families_worth_keeping
    std::uint64_t k;      // not 0: a family goes only when k proper subsets score strictly more; epsilon is not used
    std::uint32_t rules;  // bit r: CutRule r may be used
    double memory;        // bytes that may be taken
    double total;         // as for grid_exponent
    CountedElsewhere elsewhere = {};  // heeded where sets are walked, not where all of a size are counted

    // The functions of the parents, numbered also where there is only the joint one.
    int n_below() const { return below.empty() ? 1 : static_cast<int>(below.size()); }
    const SetFormula& below_at(int number) const { return below.empty() ? joint : below[number]; }
    int number_of_below(int variable) const { return below.empty() ? 0 : below_of[variable]; }
};

// The families worth keeping, by variable: those of x stand from offsets[x] to offsets[x + 1].
struct KeptLists {
    bool finished = false;       // no limit stopped it
    double memory_needed = 0.0;  // not 0: more than allowed would have been needed
    std::vector<std::int64_t> offsets;
    std::vector<std::uint64_t> parents;  // `words` for each family, the first of them for variables 0 to 63
    int words = 1;
    std::vector<double> scores;  // multiples of 2^-grid, or differences of such
    int grid = 0;
    int limit = 0;  // parents of the largest family scored
    std::uint64_t n_scored = 0;
};

template <class Set>
struct KeptFamily {
    int x;
    Set parents;
    double score = 0.0;
};

// Fills the lists, the families of each variable by growing parents.
template <class Set>
void list_families(int n, std::vector<KeptFamily<Set>> families, KeptLists& lists) {
    std::sort(families.begin(), families.end(), [](const KeptFamily<Set>& a, const KeptFamily<Set>& b) {
        return a.x != b.x ? a.x < b.x : a.parents < b.parents;
    });
    lists.offsets.assign(n + 1, 0);
    for (const KeptFamily<Set>& family : families) {
        ++lists.offsets[family.x + 1];
        for (int w = 0; w < lists.words; ++w) lists.parents.push_back(word_of(family.parents, w));
        lists.scores.push_back(family.score);
    }
    std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
}

struct PrunedFamilies : KeptLists {
    bool is_dense = false;  // given up: nearly all parent sets are open
    std::uint64_t n_sets = 0;
    std::array<std::uint64_t, n_cut_rules> n_cut{};
};

}  // namespace topdag
