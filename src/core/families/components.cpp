// components.cpp
#include "families/components.h"

#include <algorithm>

namespace topdag {

template <class Set>
std::vector<Set> strong_components(const std::vector<Set>& arcs_into, Set among) {
    std::vector<Set> ancestors = arcs_into;
    for (Set through = among; through != 0; through &= through - 1)
        for (Set& own : ancestors)
            if (has(own, first_of(through))) own |= ancestors[first_of(through)];

    struct Found {
        Set variables;
        int n_ancestors;
    };
    std::vector<Found> found;
    for (Set left = among; left != 0; left &= ~found.back().variables) {
        const int x = first_of(left);
        Set own = only<Set>(x);
        for (Set rest = ancestors[x] & among; rest != 0; rest &= rest - 1)
            if (has(ancestors[first_of(rest)], x)) own |= only<Set>(first_of(rest));
        found.push_back({own, size_of((ancestors[x] | own) & among)});
    }
    // An ancestor has fewer ancestors than what comes after it.
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.n_ancestors < b.n_ancestors; });
    std::vector<Set> sorted;
    for (const Found& component : found) sorted.push_back(component.variables);
    return sorted;
}

template <class Set>
std::vector<CandidateOf<Set>> useful_families(const CandidatesOf<Set>& candidates, int x, const ComponentOf<Set>& component) {
    std::vector<CandidateOf<Set>> useful;
    for (const CandidateOf<Set>& family : candidates.of(x)) {
        if (!is_subset(family.parents, component.before | component.variables)) continue;
        const Set inside = family.parents & component.variables;
        const auto asks_less = [&](const CandidateOf<Set>& cheaper) { return is_subset(cheaper.parents, inside); };
        if (std::none_of(useful.begin(), useful.end(), asks_less)) useful.push_back({inside, family.cost});
    }
    return useful;
}

namespace {

template <class Set>
void split(const CandidatesOf<Set>& candidates, const ComponentOf<Set>& whole, std::vector<ComponentOf<Set>>& found) {
    std::vector<Set> arcs_into(candidates.n_variables(), 0);
    for (Set rest = whole.variables; rest != 0; rest &= rest - 1)
        for (const CandidateOf<Set>& family : useful_families(candidates, first_of(rest), whole))
            arcs_into[first_of(rest)] |= family.parents;
    const std::vector<Set> parts = strong_components(arcs_into, whole.variables);
    if (parts.size() == 1) {
        found.push_back(whole);
        return;
    }
    Set before = whole.before;
    for (Set part : parts) {
        split<Set>(candidates, {part, before}, found);
        before |= part;
    }
}

template <class Set>
Set numbered_within(Set set, Set whole) {
    Set numbered = 0;
    for (Set rest = set; rest != 0; rest &= rest - 1) numbered |= only<Set>(size_of(whole & (only<Set>(first_of(rest)) - 1)));
    return numbered;
}

}  // namespace

template <class Set>
std::vector<ComponentOf<Set>> components(const CandidatesOf<Set>& candidates) {
    std::vector<ComponentOf<Set>> found;
    split<Set>(candidates, {all_of<Set>(candidates.n_variables()), 0}, found);
    return found;
}

template <class Set>
std::vector<std::vector<CandidateOf<Set>>> families_of(const CandidatesOf<Set>& candidates, const ComponentOf<Set>& component) {
    std::vector<std::vector<CandidateOf<Set>>> families;
    for (Set rest = component.variables; rest != 0; rest &= rest - 1) {
        families.push_back(useful_families(candidates, first_of(rest), component));
        for (CandidateOf<Set>& family : families.back()) family.parents = numbered_within(family.parents, component.variables);
    }
    return families;
}

#define TOPDAG_COMPONENTS(Set)                                                                                        \
    template std::vector<ComponentOf<Set>> components(const CandidatesOf<Set>&);                                     \
    template std::vector<std::vector<CandidateOf<Set>>> families_of(const CandidatesOf<Set>&, const ComponentOf<Set>&);
TOPDAG_COMPONENTS(VarSet)
TOPDAG_COMPONENTS(WideSet)
TOPDAG_COMPONENTS(BroadSet)
TOPDAG_COMPONENTS(VastSet)
#undef TOPDAG_COMPONENTS
template std::vector<VarSet> strong_components(const std::vector<VarSet>&, VarSet);
template std::vector<Candidate> useful_families(const Candidates&, int, const Component&);

}  // namespace topdag
