// layer_sweep.h: every set of one size that may matter, counted, and the families of them that may be worth keeping.
//
// A layer holds the scores of all sets of one size, by their rank among them; a family's score is the difference of two
// neighbours. Only places are known here: what was kept before is for whoever is asked about a family.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/infinity.h"
#include "base/run_limits.h"
#include "counting/cell_counters.h"
#include "counting/counting_rows.h"
#include "scoring/pruning_question.h"
#include "scoring/set_scorer.h"

namespace topdag {

constexpr int most_members = 24;  // of a set that is counted

// Binomial coefficients; those that no memory could hold stay at the largest number.
class Ranks {
public:
    explicit Ranks(int n) : rows_(static_cast<std::size_t>(n) + 1) {
        for (std::size_t place = 0; place < rows_.size(); ++place) {
            rows_[place][0] = 1;
            for (int k = 1; k <= most_members && place > 0; ++k)
                rows_[place][k] = std::min(most, rows_[place - 1][k] + rows_[place - 1][k - 1]);
        }
    }

    // How many sets of k members stand below `place`: also what a member there adds to the rank as the k-th lowest.
    std::size_t of(int place, int k) const { return rows_[static_cast<std::size_t>(place)][k]; }

private:
    static constexpr std::size_t most = std::size_t{1} << 60;

    std::vector<std::array<std::size_t, most_members + 1>> rows_;
};

// How many cells a set may have so that a member can be worth it.
struct CellCaps {
    double as_child;   // of the set, when the member is the child
    double as_parent;  // of the set, when it is a parent
    double in_parents; // of the parent set it belongs to
};

// What the caps of some members say about sets that hold them all.
struct SharedCaps {
    double most_as_child = 0.0;
    double least_as_parent = infinity;  // the smallest cap of a member as a parent,
    double its_as_child = infinity;     // that member's as a child,
    double next_as_parent = infinity;   // and the second smallest
    double least_in_parents = infinity;

    void add(const CellCaps& caps) {
        most_as_child = std::max(most_as_child, caps.as_child);
        least_in_parents = std::min(least_in_parents, caps.in_parents);
        if (caps.as_parent < least_as_parent) {
            next_as_parent = least_as_parent;
            least_as_parent = caps.as_parent;
            its_as_child = caps.as_child;
        } else {
            next_as_parent = std::min(next_as_parent, caps.as_parent);
        }
    }

    // Whether a set with so many cells may be a family's: all but the child can be parents, and one can be the child.
    bool fit(double cells, double most_child) const {
        if (cells > next_as_parent) return false;
        return cells <= (cells > least_as_parent ? its_as_child : most_child);
    }
};

// The first members of a set, highest first.
struct Prefix {
    int members[most_members];  // places
    int size = 0;
    double cells = 1.0;
    SharedCaps caps;
};

class LayerSweep {
public:
    // Asked from several threads about a set and the member of it that would be the child, which scores `most` at most.
    using Consider = std::function<void(std::size_t task, const Prefix& set, int child, double most)>;

    LayerSweep(const PruningQuestion& question, const SetScorer& scorer, Limits& limits);

    // What a family of the child at a place must reach: the score of the smallest one, less epsilon.
    void set_alone(int place, double score) { alone_[place] = units_of(score) - 1; }
    void set_caps(std::vector<CellCaps> caps);

    // Whether families with one parent more than so many may be worth it.
    bool goes_on(int size) const;
    // While families with so many parents are looked at; infinite where ranks do not reach.
    double bytes(int size) const;
    double bytes() const { return layer_bytes(last_[0].size()); }  // of the last layer
    std::size_t n_tasks(int size) const { return ranks_.of(n_, depth(size)); }

    // Considers families with so many parents that no smallest one beats for certain; sizes from 0 on, one by one.
    // Makes the layer of sets with one member more.
    void sweep(int size, const Consider& consider);

    std::uint64_t n_sets() const { return n_sets_; }
    std::uint64_t n_families() const { return n_families_; }
    int largest() const { return largest_; }  // parents of a family looked at

private:
    template <class Counter>
    class Worker;
    // The scores of all sets of one size, in units, by their rank; one array for each function of the parents.
    using Layer = std::vector<std::vector<std::int32_t>>;

    static int depth(int size) { return std::min(2, size); }  // tasks are told apart by so many highest members
    template <class Counter>
    void sweep_with(int size, const Consider& consider);
    double layer_bytes(std::size_t n_sets) const { return 4.0 * question_.n_below() * static_cast<double>(n_sets); }
    FixedFunction fixed(const SetFormula& formula) const {
        return {formula.kind, formula.parameter, formula.spread, scorer_.grid().bits()};
    }
    std::int32_t in_units(std::int64_t sum, double penalty) const {
        return units_of(static_cast<double>(sum) * scale_of_sums_ - penalty);
    }
    std::int32_t units_of(double score) const;
    std::size_t rank(const Prefix& prefix, int left_out, bool more) const;
    double penalty_units(double cells) const;
    bool are_parents(const Prefix& prefix, int x, double cells) const;

    const PruningQuestion& question_;
    const SetScorer& scorer_;
    const CountingRows& rows_;
    Limits& limits_;
    int n_;
    Ranks ranks_;
    std::vector<std::int32_t> alone_;  // by place, in units
    std::vector<CellCaps> caps_;
    std::vector<int> below_of_;          // by place: which function of the parents
    std::vector<std::int32_t> arities_;
    std::vector<float> costs_;           // arity / caps.in_parents
    std::vector<float> most_parents_;    // caps.as_child / arity
    int widest_ = 1;                     // the largest arity
    double most_as_child_ = infinity;
    double most_in_child_ = infinity;
    std::vector<double> least_cells_;  // of sets by size
    double units_in_one_ = 1.0;
    double scale_of_sums_ = 1.0;
    bool stores_ = false;
    bool shrinks_ = false;  // the likelihood of a set follows from its score, and is no larger than of any subset
    Layer last_;
    Layer next_;
    std::uint64_t n_sets_ = 0;
    std::uint64_t n_families_ = 0;
    int largest_ = 0;
};

}  // namespace topdag
