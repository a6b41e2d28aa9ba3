// cycle_cases.cpp
#include "cycles/cycle_cases.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace topdag {

namespace {

using Kind = ParentFact::Kind;

// Without variables that lie on no cycle: again and again those without parents or without children go.
VarSet on_cycles(const std::vector<VarSet>& parents) {
    VarSet left = all_of(static_cast<int>(parents.size()));
    for (VarSet before = 0; before != left;) {
        before = left;
        VarSet used = 0;
        for (VarSet rest = left; rest; rest &= rest - 1) {
            const int v = first_of(rest);
            if ((parents[v] & left) == 0) left &= ~only(v);
            else used |= parents[v];
        }
        left &= used;
    }
    return left;
}

// The edges of a shortest cycle through v among these variables, the one out of v first, each as the fact that it is
// not there; what comes before what is no edge. Nothing when there is no cycle.
std::optional<FactClause> cycle_broken(int v, VarSet among, const std::vector<VarSet>& parents,
                                       const std::vector<VarSet>& before) {
    std::vector<int> child_of(parents.size());
    VarSet met = 0, layer = only(v);
    while (layer && !has(met, v)) {
        VarSet next = 0;
        for (; layer; layer &= layer - 1) {
            const int child = first_of(layer);
            const VarSet fresh = parents[child] & among & ~met;
            for (VarSet rest = fresh; rest; rest &= rest - 1) child_of[first_of(rest)] = child;
            next |= fresh;
            met |= fresh;
        }
        layer = next;
    }
    if (!has(met, v)) return std::nullopt;
    FactClause facts;
    int parent = v;
    do {
        const int child = child_of[parent];
        if (!has(before[child], parent)) facts.push_back({child, Kind::none_of, only(parent)});
        parent = child;
    } while (parent != v);
    return facts;
}

}  // namespace

std::optional<Case> CaseSplitter::everything() const {
    std::optional<Case> all = marker_.everything();
    if (all && !settle(*all)) return std::nullopt;
    return all;
}

std::vector<Split> CaseSplitter::splits(const Case& c) const {
    std::vector<VarSet> parents = marker_.chosen_parents(c);
    std::vector<Split> found;
    if (!rules_.empty())
        for (const FactClause& clause : rules_.broken(parents)) found.push_back(priced(c, clause));
    for (std::size_t x = 0; x < parents.size(); ++x) parents[x] |= marker_.before()[x];
    const VarSet among = on_cycles(parents);
    for (VarSet rest = among; rest; rest &= rest - 1)
        if (const auto facts = cycle_broken(first_of(rest), among, parents, marker_.before()))
            found.push_back(priced(c, *facts));
    return found;
}

const Split& CaseSplitter::dearest(const std::vector<Split>& splits) {
    return *std::max_element(splits.begin(), splits.end(), [](const Split& a, const Split& b) {
        return a.least != b.least ? a.least < b.least : a.facts.size() > b.facts.size();
    });
}

std::vector<Case> CaseSplitter::parts(const Case& c, const Split& split) const {
    std::vector<Case> cases;
    Case without_earlier = c;
    for (const ParentFact& fact : split.facts) {
        Case own = without_earlier;
        if (marker_.have(own, fact) && settle(own)) cases.push_back(std::move(own));
        if (!marker_.have(without_earlier, fact.opposite()) || !settle(without_earlier)) break;
    }
    return cases;
}

// The dearest fact first: its part has fewest marks and costs most, that of the cheapest fact has all marks.
Split CaseSplitter::priced(const Case& c, const FactClause& facts) const {
    std::vector<double> prices;
    for (const ParentFact& fact : facts) prices.push_back(marker_.price(c, fact));
    std::vector<std::size_t> order(facts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return prices[a] > prices[b]; });
    Split split;
    for (const std::size_t i : order) split.facts.push_back(facts[i]);
    split.least = order.empty() ? Candidates::no_family : prices[order.back()];
    return split;
}

}  // namespace topdag
