// cycle_cases.cpp
#include "cycle_cases.h"

#include <algorithm>
#include <numeric>

namespace topdag {

namespace {

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

// A shortest cycle through v among these variables, the edge out of v first; none when there is none.
std::vector<Edge> cycle_through(int v, VarSet among, const std::vector<VarSet>& parents) {
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
    std::vector<Edge> edges;
    if (!has(met, v)) return edges;
    int parent = v;
    do {
        edges.push_back({parent, child_of[parent]});
        parent = child_of[parent];
    } while (parent != v);
    return edges;
}

// The variables from which edges that must be lead to v, with v.
VarSet with_ancestors(const Case& c, int v) {
    VarSet found = only(v), next = found;
    while (next) {
        VarSet parents = 0;
        for (; next; next &= next - 1) parents |= c.of[first_of(next)].must;
        next = parents & ~found;
        found |= parents;
    }
    return found;
}

VarSet with_descendants(const Case& c, int v) {
    VarSet found = only(v);
    for (VarSet before = 0; before != found;) {
        before = found;
        for (int x = 0; x < static_cast<int>(c.of.size()); ++x)
            if (c.of[x].must & found) found |= only(x);
    }
    return found;
}

}  // namespace

Case CycleBreaker::everything() const {
    Case c;
    c.of.resize(candidates_.n_variables());
    return c;
}

std::vector<VarSet> CycleBreaker::chosen_parents(const Case& c) const {
    std::vector<VarSet> parents;
    for (int x = 0; x < candidates_.n_variables(); ++x) parents.push_back(candidates_.of(x)[c.of[x].chosen].parents);
    return parents;
}

std::vector<Cycle> CycleBreaker::cycles(const Case& c) const {
    const std::vector<VarSet> parents = chosen_parents(c);
    const VarSet among = on_cycles(parents);
    std::vector<Cycle> found;
    for (VarSet rest = among; rest; rest &= rest - 1) {
        std::vector<Edge> edges = cycle_through(first_of(rest), among, parents);
        if (!edges.empty()) found.push_back(priced(c, std::move(edges)));
    }
    return found;
}

const Cycle& CycleBreaker::dearest(const std::vector<Cycle>& cycles) {
    return *std::max_element(cycles.begin(), cycles.end(), [](const Cycle& a, const Cycle& b) {
        return a.least != b.least ? a.least < b.least : a.edges.size() > b.edges.size();
    });
}

std::vector<Case> CycleBreaker::split(const Case& c, const Cycle& cycle) const {
    std::vector<Case> cases;
    Case with_earlier = c;
    for (const Edge& edge : cycle.edges) {
        Case own = with_earlier;
        if (forbid(own, edge)) cases.push_back(std::move(own));
        if (!demand(with_earlier, edge)) break;
    }
    return cases;
}

bool CycleBreaker::forbid(Case& c, Edge edge) const {
    if (has(c.of[edge.child].must, edge.parent)) return false;
    c.of[edge.child].without |= only(edge.parent);
    return choose(c, edge.child);
}

// With the edge no network leads from its end back to its beginning: no edge may close such a way.
bool CycleBreaker::demand(Case& c, Edge edge) const {
    if (has(c.of[edge.child].without, edge.parent)) return false;
    c.of[edge.child].must |= only(edge.parent);
    if (!choose(c, edge.child)) return false;
    const VarSet below = with_descendants(c, edge.child);
    for (VarSet rest = with_ancestors(c, edge.parent); rest; rest &= rest - 1) {
        const int x = first_of(rest);
        if (c.of[x].must & below) return false;
        c.of[x].without |= below & ~only(x);
        if (!choose(c, x)) return false;
    }
    return true;
}

// Takes the best family of x that its marks allow; false when there is none. Marks only grow, so families before the
// one chosen last need no second look.
bool CycleBreaker::choose(Case& c, int x) const {
    Marks& marks = c.of[x];
    const std::size_t found = first_fitting(x, marks);
    const std::vector<Candidate>& families = candidates_.of(x);
    if (found == families.size()) return false;
    c.cost += families[found].cost - families[marks.chosen].cost;
    marks.chosen = static_cast<std::uint32_t>(found);
    return true;
}

std::size_t CycleBreaker::first_fitting(int x, const Marks& marks) const {
    const std::vector<Candidate>& families = candidates_.of(x);
    const auto fits = [&](const Candidate& family) {
        return (family.parents & marks.without) == 0 && is_subset(marks.must, family.parents);
    };
    return std::find_if(families.begin() + marks.chosen, families.end(), fits) - families.begin();
}

// What the child pays for doing without this parent; infinite when it cannot.
double CycleBreaker::price(const Case& c, Edge edge) const {
    Marks marks = c.of[edge.child];
    if (has(marks.must, edge.parent)) return Candidates::no_family;
    marks.without |= only(edge.parent);
    const std::vector<Candidate>& families = candidates_.of(edge.child);
    const std::size_t found = first_fitting(edge.child, marks);
    return found == families.size() ? Candidates::no_family : families[found].cost - families[marks.chosen].cost;
}

// The dearest edge first: its case has fewest marks and costs most, that of the cheapest edge has all marks.
Cycle CycleBreaker::priced(const Case& c, std::vector<Edge> edges) const {
    std::vector<double> prices;
    for (const Edge& edge : edges) prices.push_back(price(c, edge));
    std::vector<std::size_t> order(edges.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return prices[a] > prices[b]; });
    Cycle cycle;
    for (const std::size_t i : order) cycle.edges.push_back(edges[i]);
    cycle.least = prices[order.back()];
    return cycle;
}

}  // namespace topdag
