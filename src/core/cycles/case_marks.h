// case_marks.h: sets of networks told by what each variable's parents must be, and the best families they leave.
//
// The best family of each variable that its marks and facts allow, cycles or not, costs no more than any network of a
// case. Marks and facts only grow, so the place of the best family in its list only moves on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/var_set.h"
#include "families/candidates.h"

namespace topdag {

// Something about one variable's parents: some of these are among them, none is, or their number is one of these bits.
struct ParentFact {
    enum class Kind : std::uint8_t { some_of, none_of, count_in };

    int child;
    Kind kind;
    VarSet bits;

    bool operator==(const ParentFact&) const = default;
    bool holds(VarSet parents) const;
    ParentFact opposite() const;
};

// One of these must be.
using FactClause = std::vector<ParentFact>;

enum class Truth : std::uint8_t { never, open, always };

// Of one variable: parents that must be, parents that must not, and where the best family with both stands in the list.
struct Marks {
    VarSet must = 0;
    VarSet without = 0;
    std::uint32_t chosen = 0;
};

struct Case {
    double cost = 0.0;  // of the chosen families; no network of the case costs less
    std::vector<Marks> of;
    std::vector<ParentFact> facts;  // that hold besides, those that marks cannot say

    std::size_t bytes() const {
        return sizeof(Case) + of.capacity() * sizeof(Marks) + facts.capacity() * sizeof(ParentFact);
    }
};

// The variables from which edges that must be lead to v, with v; and those to which they lead from v.
VarSet with_ancestors(const Case& c, int v, const std::vector<VarSet>& before);
VarSet with_descendants(const Case& c, int v, const std::vector<VarSet>& before);

class CaseMarker {
public:
    // `before`: what comes before each variable in any order asked for, all of it.
    CaseMarker(const Candidates& candidates, std::vector<VarSet> before);

    // All networks of the order; none when some variable has no family for it.
    std::optional<Case> everything() const;
    std::vector<VarSet> chosen_parents(const Case& c) const;
    const std::vector<VarSet>& before() const { return before_; }
    // The parents that x may still have.
    VarSet possible(const Case& c, int x) const { return may_[x] & ~c.of[x].without; }

    // Leaves the networks in which the fact holds; false when it sees that there are none.
    bool have(Case& c, const ParentFact& fact) const;
    // What marks and facts say of it; open when they do not tell.
    Truth truth_of(const Case& c, const ParentFact& fact) const;
    // What the child pays for the fact; infinite when it cannot.
    double price(const Case& c, const ParentFact& fact) const;

private:
    bool forbid(Case& c, int child, VarSet parents) const;
    bool demand(Case& c, int child, int parent) const;
    bool choose(Case& c, int x) const;
    template <class Fits>
    std::size_t first_fitting(const Case& c, int x, Fits fits) const;

    const Candidates& candidates_;
    std::vector<VarSet> before_, may_;
};

}  // namespace topdag
