// open_levels.h: parent sets of one size after the other, with the variables that they are open for.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/set_index.h"
#include "base/var_set.h"
#include "drawn/drawn_counts.h"
#include "scoring/pruning_question.h"

namespace topdag {

// Parent sets of one size that are open for some variable. `Score`: a number, or one for each of several draws.
template <class Score>
struct Level {
    // Sets that differ only in their lowest member stand together.
    struct Group { VarSet members = 0; std::uint32_t start = 0; };

    std::vector<VarSet> sets;             // ascending
    std::vector<VarSet> open;             // for which variables
    std::vector<Score> value;             // the joint score of the set
    std::vector<const Score*> best;       // by open variable: the most that the set or a subset scores as its parents
    std::vector<const Score*> local;      // by open variable, where k better subsets are counted
    std::vector<std::vector<Score>> held; // what these point to
    std::size_t n_open = 0;               // families
    std::vector<Group> groups;
    SetIndex group_of;                    // by the set without its lowest member

    // Where an open variable stands among those of its set.
    int place(std::size_t at, int x) const { return std::popcount(open[at] & (only(x) - 1)); }

    void index_groups() {
        std::vector<VarSet> prefixes;
        groups.clear();
        for (std::uint32_t at = 0; at < sets.size(); ++at) {
            const VarSet prefix = sets[at] & (sets[at] - 1);
            if (prefixes.empty() || prefixes.back() != prefix) {
                prefixes.push_back(prefix);
                groups.push_back({0, at});
            }
            groups.back().members |= sets[at] & -sets[at];
        }
        group_of = SetIndex(prefixes);
    }

    // Where a set stands that is there.
    std::uint32_t find(VarSet set) const {
        if (set == 0) return 0;
        const Group& group = groups[group_of.find(set & (set - 1))];
        return group.start + std::popcount(group.members & ((set & -set) - 1));
    }
};

using Kept = KeptFamily<VarSet>;

// Some parent sets of the next size, with all that is found out about them.
template <class Score>
struct Batch {
    std::vector<VarSet> sets;
    std::vector<VarSet> candidates;       // variables for which all subsets are open
    std::vector<std::uint32_t> subsets;   // `size` for each set: where its subsets stand in the level before
    std::vector<Score> below;             // by candidate: the most that a proper subset scores; then, where open, that or more
    std::vector<VarSet> wanted;           // sets with a candidate, ascending, each once
    std::vector<VarSet> open;
    std::vector<Score> local;
    std::array<std::vector<Kept>, n_draws<Score>> kept;  // by draw
    std::uint64_t n_scored = 0;
    std::array<std::uint64_t, n_cut_rules> n_cut{};

    double bytes() const {
        const std::size_t n_scores = sets.size() + below.size();  // those of the sets themselves stand elsewhere
        return 8.0 * static_cast<double>(2 * sets.size() + subsets.size() / 2 + wanted.size() + n_scores * n_draws<Score>);
    }
};

// For each of these variables the most that a subset standing at `subsets` scores, one after the other.
void best_of_subsets(const Level<double>& before, const std::uint32_t* subsets, int size, VarSet variables, double* best);

// The same of several draws, but only for the variables that it leaves below `most` in some draw, which are returned.
// `most`: by variable, less what a cell costs it times the cells.
struct MostByCells {
    const DrawnRows::Score* most;
    const double* cost;
    double cells;
};
VarSet best_of_hopeful(const Level<DrawnRows::Score>& before, const std::uint32_t* subsets, int size, VarSet variables,
                       const MostByCells& most, DrawnRows::Score* best);

// Of sets that batches want, one batch after the other: ascending, each once.
std::vector<VarSet> all_wanted(const std::vector<std::vector<VarSet>*>& batches, Limits& limits);

}  // namespace topdag
