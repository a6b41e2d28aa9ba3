// parent_trees.h: good parents of a variable among those before it, grown one by one and then shrunk, each step that
// gains most first [Andrews et al. 2023: grow-shrink trees].
//
// What was grown is kept as a tree: which parent comes next depends only on those already there and on which others may
// come, so that orders which agree so far share the way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/infinity.h"
#include "climbing/score_source.h"

namespace topdag {

// What parents one variable may have: all of `must`, none outside `may`, so many.
template <class Set>
struct ParentRules {
    Set must;
    Set may;
    int least;
    int most;
    std::vector<Set> among;  // one of these, where there are any
};

template <class Set>
struct ScoredParents {
    double score;  // hopeless where no parents among those before satisfy the rules
    Set parents;
};

template <class Set>
class ParentTrees {
public:
    static constexpr double hopeless = ScoreSource<Set>::hopeless;

    ParentTrees(std::unique_ptr<ScoreSource<Set>> families, std::vector<ParentRules<Set>> rules);

    int n_variables() const { return static_cast<int>(rules_.size()); }
    const ParentRules<Set>& rules(int x) const { return rules_[x]; }

    // So much work, beside what is done: growing and shrinking, and what is charged for going through what is known.
    void allow(double work) { allowed_ = this->work() + work; }
    void charge(double work) { charged_ += work; }
    double work() const { return families_->work() + charged_; }
    bool is_exhausted() const { return work() >= allowed_; }

    // Parents of x within a set; none when the work allowed is done.
    std::optional<ScoredParents<Set>> best_within(int x, Set within);

    // ---- The trees themselves

    struct Branch { int p; std::int32_t child; double score; };
    struct Node {
        ScoredParents<Set> own;
        std::vector<Branch> branches;  // with one parent more, best first: those that gain, or all while there must be more
        ScoredParents<Set> shrunk;
        bool is_grown = false;
        bool is_shrunk = false;
    };
    std::int32_t root(int x);
    std::int32_t child(std::int32_t node, std::size_t branch);
    // Null when the work allowed is done.
    const Node* grown(int x, std::int32_t node);
    bool satisfies(int x, Set parents) const;

private:
    bool shrink(int x, Node& node);
    std::optional<ScoredParents<Set>> listed_within(int x, Set within);
    void forget();

    std::unique_ptr<ScoreSource<Set>> families_;
    std::vector<ParentRules<Set>> rules_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> roots_;
    std::vector<std::vector<ScoredParents<Set>>> listed_;  // by variable, best first, where parents are among some
    std::vector<double> scores_;
    std::size_t n_branches_ = 0;
    double charged_ = 0.0;
    double allowed_ = infinity;
};

}  // namespace topdag
