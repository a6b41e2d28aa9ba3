// case_marks.cpp
#include "cycles/case_marks.h"

#include <algorithm>
#include <utility>

namespace topdag {

namespace {

using Kind = ParentFact::Kind;

// The numbers from `least` to `most`, as bits.
VarSet numbers_between(int least, int most) { return all_of(most + 1) & ~all_of(least); }

}  // namespace

bool ParentFact::holds(VarSet parents) const {
    if (kind == Kind::count_in) return has(bits, size_of(parents));
    return ((parents & bits) != 0) == (kind == Kind::some_of);
}

ParentFact ParentFact::opposite() const {
    if (kind == Kind::count_in) return {child, kind, ~bits};
    return {child, kind == Kind::some_of ? Kind::none_of : Kind::some_of, bits};
}

VarSet with_ancestors(const Case& c, int v, const std::vector<VarSet>& before) {
    VarSet found = only(v), next = found;
    while (next) {
        VarSet parents = 0;
        for (; next; next &= next - 1) parents |= c.of[first_of(next)].must | before[first_of(next)];
        next = parents & ~found;
        found |= parents;
    }
    return found;
}

VarSet with_descendants(const Case& c, int v, const std::vector<VarSet>& before) {
    VarSet found = only(v);
    for (VarSet last = 0; last != found;) {
        last = found;
        for (int x = 0; x < static_cast<int>(c.of.size()); ++x)
            if ((c.of[x].must | before[x]) & found) found |= only(x);
    }
    return found;
}

CaseMarker::CaseMarker(const Candidates& candidates, std::vector<VarSet> before)
    : candidates_(candidates), before_(std::move(before)) {
    before_.resize(candidates.n_variables(), 0);
    for (int x = 0; x < candidates.n_variables(); ++x) {
        VarSet may = 0;
        for (const Candidate& family : candidates.of(x)) may |= family.parents;
        may_.push_back(may);
    }
}

std::optional<Case> CaseMarker::everything() const {
    Case c;
    c.of.resize(candidates_.n_variables());
    for (int x = 0; x < candidates_.n_variables(); ++x)
        for (VarSet early = before_[x]; early; early &= early - 1)
            if (!forbid(c, first_of(early), only(x))) return std::nullopt;
    return c;
}

std::vector<VarSet> CaseMarker::chosen_parents(const Case& c) const {
    std::vector<VarSet> parents;
    for (int x = 0; x < candidates_.n_variables(); ++x) parents.push_back(candidates_.of(x)[c.of[x].chosen].parents);
    return parents;
}

bool CaseMarker::have(Case& c, const ParentFact& fact) const {
    switch (truth_of(c, fact)) {
        case Truth::never: return false;
        case Truth::always: return true;
        case Truth::open: break;
    }
    if (fact.kind == Kind::none_of) return forbid(c, fact.child, fact.bits);
    const VarSet left = fact.bits & possible(c, fact.child);
    if (fact.kind == Kind::some_of && size_of(left) == 1) return demand(c, fact.child, first_of(left));
    c.facts.push_back(fact);
    return choose(c, fact.child);
}

Truth CaseMarker::truth_of(const Case& c, const ParentFact& fact) const {
    const VarSet must = c.of[fact.child].must, may = possible(c, fact.child);
    if (fact.kind == Kind::count_in) {
        const VarSet numbers = numbers_between(size_of(must), size_of(may));
        if ((numbers & fact.bits) == 0) return Truth::never;
        if (is_subset(numbers, fact.bits)) return Truth::always;
    } else {
        const bool wanted = fact.kind == Kind::some_of;
        if (must & fact.bits) return wanted ? Truth::always : Truth::never;
        if ((may & fact.bits) == 0) return wanted ? Truth::never : Truth::always;
    }
    return std::find(c.facts.begin(), c.facts.end(), fact) != c.facts.end() ? Truth::always : Truth::open;
}

double CaseMarker::price(const Case& c, const ParentFact& fact) const {
    if (truth_of(c, fact) == Truth::never) return Candidates::no_family;
    const std::vector<Candidate>& families = candidates_.of(fact.child);
    const std::size_t found = first_fitting(c, fact.child, [&](VarSet parents) { return fact.holds(parents); });
    return found == families.size() ? Candidates::no_family
                                    : families[found].cost - families[c.of[fact.child].chosen].cost;
}

bool CaseMarker::forbid(Case& c, int child, VarSet parents) const {
    if (c.of[child].must & parents) return false;
    if (is_subset(parents, c.of[child].without)) return true;
    c.of[child].without |= parents;
    return choose(c, child);
}

// With the edge no network leads from its end back to its beginning: no edge may close such a way.
bool CaseMarker::demand(Case& c, int child, int parent) const {
    if (has(c.of[child].without, parent)) return false;
    c.of[child].must |= only(parent);
    if (!choose(c, child)) return false;
    const VarSet below = with_descendants(c, child, before_);
    for (VarSet rest = with_ancestors(c, parent, before_); rest; rest &= rest - 1) {
        const int x = first_of(rest);
        if (has(below, x) || !forbid(c, x, below)) return false;
    }
    return true;
}

// Takes the best family of x that its marks and facts allow; false when there is none.
bool CaseMarker::choose(Case& c, int x) const {
    const std::size_t found = first_fitting(c, x, [](VarSet) { return true; });
    const std::vector<Candidate>& families = candidates_.of(x);
    if (found == families.size()) return false;
    c.cost += families[found].cost - families[c.of[x].chosen].cost;
    c.of[x].chosen = static_cast<std::uint32_t>(found);
    return true;
}

// The first family from the chosen one on: those before it need no second look.
template <class Fits>
std::size_t CaseMarker::first_fitting(const Case& c, int x, Fits fits) const {
    const std::vector<Candidate>& families = candidates_.of(x);
    const Marks& marks = c.of[x];
    const auto has_facts = [&](VarSet parents) {
        const auto is_broken = [&](const ParentFact& fact) { return fact.child == x && !fact.holds(parents); };
        return std::none_of(c.facts.begin(), c.facts.end(), is_broken);
    };
    const auto fits_all = [&](const Candidate& family) {
        return (family.parents & marks.without) == 0 && is_subset(marks.must, family.parents) &&
               fits(family.parents) && has_facts(family.parents);
    };
    return std::find_if(families.begin() + marks.chosen, families.end(), fits_all) - families.begin();
}

}  // namespace topdag
