// cycle_cases.h: how cycles and broken rules split a set of networks.
//
// Where the best families of a case make a cycle, a network lacks one of its edges; where they break a rule, a network
// has one of the facts of a clause. Part i has the i-th fact and none before it, so the parts have no network in common
// and lose none [de Campos, Zeng & Ji 2009, section 4].
#pragma once

#include <optional>
#include <vector>

#include "base/var_set.h"
#include "cycles/case_marks.h"
#include "cycles/case_rules.h"
#include "families/candidates.h"

namespace topdag {

// Facts of which every network of a case has one, dearest first; `least`: what that costs at least.
struct Split {
    FactClause facts;
    double least = 0.0;
};

class CaseSplitter {
public:
    CaseSplitter(const Candidates& candidates, const CaseRules& rules)
        : rules_(rules), marker_(candidates, rules.before()) {}

    // All networks that satisfy the rules, and perhaps others; none when it sees that none does.
    std::optional<Case> everything() const;
    std::vector<VarSet> chosen_parents(const Case& c) const { return marker_.chosen_parents(c); }

    // By one shortest cycle through each variable that lies on some, and by each thing that is broken; none when the
    // chosen families are a network that satisfies the rules.
    std::vector<Split> splits(const Case& c) const;
    // The one that is dearest; of such the shortest, then the first.
    static const Split& dearest(const std::vector<Split>& splits);

    // The parts in which each variable has a family left, in the order of the facts.
    std::vector<Case> parts(const Case& c, const Split& split) const;

private:
    bool settle(Case& c) const { return rules_.empty() || rules_.settle(c, marker_); }
    Split priced(const Case& c, const FactClause& facts) const;

    const CaseRules& rules_;
    CaseMarker marker_;
};

}  // namespace topdag
