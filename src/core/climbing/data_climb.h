// data_climb.h: a good network from the data: edges added greedily, then a local search over orders that grows and
// shrinks parents [Teyssier & Koller 2005; Andrews et al. 2023]. It can be asked for the best so far at any time. No proof.
#pragma once

#include <vector>

#include "base/draws.h"
#include "climbing/parent_trees.h"

namespace topdag {

template <class Set>
class DataClimb {
public:
    // `before`: by variable those that come before it, as must-be parents do; closed under itself.
    DataClimb(std::unique_ptr<ScoreSource<Set>> families, std::vector<ParentRules<Set>> rules, std::vector<Set> before,
              std::uint64_t seed);

    // Goes on for so much work, or until many climbs have found nothing better; what is found depends on all the work
    // done, not on how it was cut into pieces.
    void go_on(double work);

    // None found yet: minus infinity, and no parents.
    double best_score() const { return best_score_; }
    const std::vector<Set>& best_parents() const { return best_; }

private:
    bool add_edges();
    bool climb();
    bool record();
    void offer(double score, const std::vector<Set>& parents);
    void disturb();

    ParentTrees<Set> trees_;
    std::vector<Set> before_;
    Draws draws_;
    double best_score_;
    std::vector<Set> best_;

    // While edges are added: by variable where its tree was left, and what is above it.
    bool has_edges_ = false;
    std::vector<std::int32_t> at_;
    std::vector<Set> above_;

    // Then: the order at hand, and the best local optimum.
    std::vector<int> order_, best_order_;
    double order_score_, best_order_score_;
    bool is_recorded_ = false;
    int next_ = 0;
    int since_change_ = 0;
    int climbs_since_best_ = 0;
};

}  // namespace topdag
