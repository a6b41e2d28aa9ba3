// case_rules.h: what networks must satisfy besides having no cycles: rules across variables, paths, orders.
//
// What a choice of families breaks is told as a clause: facts one of which must be, and none of which it has. What a
// case leaves no choice about is settled in it at once.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/var_set.h"
#include "cycles/case_marks.h"

namespace topdag {

class CaseRules {
public:
    explicit CaseRules(int n) : before_(n, 0) {}

    int n_variables() const { return static_cast<int>(before_.size()); }
    bool empty() const { return required_.empty() && paths_.empty() && no_paths_.empty(); }
    std::size_t n_rules() const { return rules_.size(); }

    // Rules are trees of facts; each is known by the number it was given.
    std::size_t add_fact(ParentFact fact);
    std::size_t add_any(std::vector<std::size_t> parts);
    std::size_t add_all(std::vector<std::size_t> parts);
    void require(std::size_t rule) { required_.push_back(rule); }
    void require_path(int begin, int end);
    void forbid_path(int begin, int end) { no_paths_.emplace_back(begin, end); }
    void put_before(int first, int then);

    // What comes before each variable in any case, all of it.
    const std::vector<VarSet>& before() const { return before_; }
    // A clause for each thing that families with these parents break; cycles and orders are no matter of it.
    std::vector<FactClause> broken(const std::vector<VarSet>& parents) const;
    // Whether nothing is broken.
    bool allow(const std::vector<VarSet>& parents) const { return empty() || broken(parents).empty(); }
    // Adds to the case what all its networks that satisfy the rules have; false when it sees that there are none.
    bool settle(Case& c, const CaseMarker& marker) const;

private:
    using Pair = std::pair<int, int>;

    struct RuleTree {
        enum class Kind : std::uint8_t { fact, any, all } kind;
        ParentFact fact;
        std::vector<std::size_t> parts;
    };

    // What came of looking at something that must be.
    enum class Settled : std::uint8_t { impossible, unchanged, changed };

    std::size_t add(RuleTree rule);
    bool holds(std::size_t rule, const std::vector<VarSet>& parents) const;
    void falsified(std::size_t rule, const std::vector<VarSet>& parents, FactClause& clause) const;
    Truth truth_of(std::size_t rule, const Case& c, const CaseMarker& marker) const;
    Settled settle_rule(std::size_t rule, Case& c, const CaseMarker& marker) const;
    Settled settle_no_path(Pair pair, Case& c, const CaseMarker& marker) const;
    Settled settle_path(Pair pair, Case& c, const CaseMarker& marker) const;
    VarSet may_lie_on(Pair pair) const;
    FactClause ways_out(Pair pair, VarSet inside) const;

    std::vector<RuleTree> rules_;
    std::vector<std::size_t> required_;
    std::vector<Pair> paths_, no_paths_;
    std::vector<VarSet> before_;
};

}  // namespace topdag
