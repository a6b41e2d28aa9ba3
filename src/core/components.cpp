// components.cpp
#include "components.h"

#include <algorithm>

namespace topdag {

std::vector<VarSet> strong_components(const std::vector<VarSet>& arcs_into, VarSet among) {
    std::vector<VarSet> ancestors = arcs_into;
    for (VarSet through = among; through != 0; through &= through - 1)
        for (VarSet& own : ancestors)
            if (has(own, first_of(through))) own |= ancestors[first_of(through)];

    struct Found {
        VarSet variables;
        int n_ancestors;
    };
    std::vector<Found> found;
    for (VarSet left = among; left != 0; left &= ~found.back().variables) {
        const int x = first_of(left);
        VarSet own = only(x);
        for (VarSet rest = ancestors[x] & among; rest != 0; rest &= rest - 1)
            if (has(ancestors[first_of(rest)], x)) own |= only(first_of(rest));
        found.push_back({own, size_of((ancestors[x] | own) & among)});
    }
    // An ancestor has fewer ancestors than what comes after it.
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.n_ancestors < b.n_ancestors; });
    std::vector<VarSet> sorted;
    for (const Found& component : found) sorted.push_back(component.variables);
    return sorted;
}

std::vector<Candidate> useful_families(const Candidates& candidates, int x, const Component& component) {
    std::vector<Candidate> useful;
    for (const Candidate& family : candidates.of(x)) {
        if (!is_subset(family.parents, component.before | component.variables)) continue;
        const VarSet inside = family.parents & component.variables;
        const auto asks_less = [&](const Candidate& cheaper) { return is_subset(cheaper.parents, inside); };
        if (std::none_of(useful.begin(), useful.end(), asks_less)) useful.push_back({inside, family.cost});
    }
    return useful;
}

namespace {

void split(const Candidates& candidates, const Component& whole, std::vector<Component>& found) {
    std::vector<VarSet> arcs_into(candidates.n_variables(), 0);
    for (VarSet rest = whole.variables; rest != 0; rest &= rest - 1)
        for (const Candidate& family : useful_families(candidates, first_of(rest), whole))
            arcs_into[first_of(rest)] |= family.parents;
    const std::vector<VarSet> parts = strong_components(arcs_into, whole.variables);
    if (parts.size() == 1) {
        found.push_back(whole);
        return;
    }
    VarSet before = whole.before;
    for (VarSet part : parts) {
        split(candidates, {part, before}, found);
        before |= part;
    }
}

VarSet numbered_within(VarSet set, VarSet whole) {
    VarSet numbered = 0;
    for (VarSet rest = set; rest != 0; rest &= rest - 1) numbered |= only(size_of(whole & (only(first_of(rest)) - 1)));
    return numbered;
}

}  // namespace

std::vector<Component> components(const Candidates& candidates) {
    std::vector<Component> found;
    split(candidates, {all_of(candidates.n_variables()), 0}, found);
    return found;
}

std::vector<std::vector<Candidate>> families_of(const Candidates& candidates, const Component& component) {
    std::vector<std::vector<Candidate>> families;
    for (VarSet rest = component.variables; rest != 0; rest &= rest - 1) {
        families.push_back(useful_families(candidates, first_of(rest), component));
        for (Candidate& family : families.back()) family.parents = numbered_within(family.parents, component.variables);
    }
    return families;
}

}  // namespace topdag
