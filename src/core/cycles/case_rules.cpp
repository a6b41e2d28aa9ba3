// case_rules.cpp
#include "cycles/case_rules.h"

#include <algorithm>

namespace topdag {

namespace {

using Kind = ParentFact::Kind;

// The variables to which edges lead from v, with v; only through variables of `among`.
VarSet reached_from(int v, VarSet among, const std::vector<VarSet>& parents) {
    VarSet found = only(v);
    for (VarSet last = 0; last != found;) {
        last = found;
        for (VarSet rest = among & ~found; rest; rest &= rest - 1)
            if (parents[first_of(rest)] & found) found |= only(first_of(rest));
    }
    return found;
}

// The edges of a shortest path, each as the fact that it is not there; none when there is no path.
FactClause path_broken(int begin, int end, const std::vector<VarSet>& parents) {
    std::vector<int> child_of(parents.size(), -1);
    VarSet met = only(end), layer = met;
    while (layer && !has(met, begin)) {
        VarSet next = 0;
        for (; layer; layer &= layer - 1) {
            const VarSet fresh = parents[first_of(layer)] & ~met;
            for (VarSet rest = fresh; rest; rest &= rest - 1) child_of[first_of(rest)] = first_of(layer);
            next |= fresh;
            met |= fresh;
        }
        layer = next;
    }
    FactClause clause;
    if (!has(met, begin)) return clause;
    for (int at = begin; at != end; at = child_of[at])
        clause.push_back({child_of[at], Kind::none_of, only(at)});
    return clause;
}

}  // namespace

std::size_t CaseRules::add_fact(ParentFact fact) { return add({RuleTree::Kind::fact, fact, {}}); }

std::size_t CaseRules::add_any(std::vector<std::size_t> parts) {
    return add({RuleTree::Kind::any, {}, std::move(parts)});
}

std::size_t CaseRules::add_all(std::vector<std::size_t> parts) {
    return add({RuleTree::Kind::all, {}, std::move(parts)});
}

std::size_t CaseRules::add(RuleTree rule) {
    rules_.push_back(std::move(rule));
    return rules_.size() - 1;
}

void CaseRules::require_path(int begin, int end) {
    paths_.emplace_back(begin, end);
    put_before(begin, end);
}

void CaseRules::put_before(int first, int then) {
    const VarSet early = before_[first] | only(first);
    for (int x = 0; x < n_variables(); ++x)
        if (x == then || has(before_[x], then)) before_[x] |= early;
}

std::vector<FactClause> CaseRules::broken(const std::vector<VarSet>& parents) const {
    std::vector<FactClause> clauses;
    for (const std::size_t rule : required_)
        if (!holds(rule, parents)) falsified(rule, parents, clauses.emplace_back());
    for (const auto& [begin, end] : no_paths_)
        if (FactClause clause = path_broken(begin, end, parents); !clause.empty()) clauses.push_back(std::move(clause));
    for (const Pair& pair : paths_) {
        const VarSet inside = reached_from(pair.first, may_lie_on(pair), parents);
        if (!has(inside, pair.second)) clauses.push_back(ways_out(pair, inside));
    }
    return clauses;
}

bool CaseRules::holds(std::size_t rule, const std::vector<VarSet>& parents) const {
    const RuleTree& tree = rules_[rule];
    if (tree.kind == RuleTree::Kind::fact) return tree.fact.holds(parents[tree.fact.child]);
    const auto is_true = [&](std::size_t part) { return holds(part, parents); };
    return tree.kind == RuleTree::Kind::any ? std::any_of(tree.parts.begin(), tree.parts.end(), is_true)
                                            : std::all_of(tree.parts.begin(), tree.parts.end(), is_true);
}

// A clause that follows from a rule that is broken, and is broken too: one wrong part makes the whole of `all` wrong.
void CaseRules::falsified(std::size_t rule, const std::vector<VarSet>& parents, FactClause& clause) const {
    const RuleTree& tree = rules_[rule];
    if (tree.kind == RuleTree::Kind::fact && std::find(clause.begin(), clause.end(), tree.fact) == clause.end())
        clause.push_back(tree.fact);
    for (const std::size_t part : tree.parts)
        if (!holds(part, parents)) {
            falsified(part, parents, clause);
            if (tree.kind == RuleTree::Kind::all) return;
        }
}

// What may lie on a path, both ends with it.
VarSet CaseRules::may_lie_on(Pair pair) const {
    const auto [begin, end] = pair;
    VarSet among = all_of(n_variables()) & ~before_[begin];
    for (int x = 0; x < n_variables(); ++x)
        if (has(before_[x], end)) among &= ~only(x);
    for (const auto& [from, to] : no_paths_) {
        if (from == begin) among &= ~only(to);
        if (to == end) among &= ~only(from);
    }
    return among | only(begin) | only(end);
}

// A path leaves every set that holds its beginning and not its end.
FactClause CaseRules::ways_out(Pair pair, VarSet inside) const {
    FactClause clause;
    for (VarSet rest = may_lie_on(pair) & ~inside; rest; rest &= rest - 1)
        clause.push_back({first_of(rest), Kind::some_of, inside});
    return clause;
}

bool CaseRules::settle(Case& c, const CaseMarker& marker) const {
    const auto look_at_all = [&](const auto& things, auto look, bool& is_changed) {
        for (const auto& thing : things) {
            const Settled settled = look(thing);
            if (settled == Settled::impossible) return false;
            is_changed |= settled == Settled::changed;
        }
        return true;
    };
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        const bool is_possible =
            look_at_all(required_, [&](std::size_t rule) { return settle_rule(rule, c, marker); }, is_changed) &&
            look_at_all(no_paths_, [&](Pair pair) { return settle_no_path(pair, c, marker); }, is_changed) &&
            look_at_all(paths_, [&](Pair pair) { return settle_path(pair, c, marker); }, is_changed);
        if (!is_possible) return false;
    }
    return true;
}

Truth CaseRules::truth_of(std::size_t rule, const Case& c, const CaseMarker& marker) const {
    const RuleTree& tree = rules_[rule];
    if (tree.kind == RuleTree::Kind::fact) return marker.truth_of(c, tree.fact);
    const bool is_any = tree.kind == RuleTree::Kind::any;
    Truth truth = is_any ? Truth::never : Truth::always;
    for (const std::size_t part : tree.parts) {
        const Truth own = truth_of(part, c, marker);
        truth = is_any ? std::max(truth, own) : std::min(truth, own);
    }
    return truth;
}

// Of `any` the only part that can still be must be.
CaseRules::Settled CaseRules::settle_rule(std::size_t rule, Case& c, const CaseMarker& marker) const {
    const Truth truth = truth_of(rule, c, marker);
    if (truth != Truth::open) return truth == Truth::always ? Settled::unchanged : Settled::impossible;
    const RuleTree& tree = rules_[rule];
    if (tree.kind == RuleTree::Kind::fact) return marker.have(c, tree.fact) ? Settled::changed : Settled::impossible;
    if (tree.kind == RuleTree::Kind::any) {
        std::vector<std::size_t> open;
        for (const std::size_t part : tree.parts)
            if (truth_of(part, c, marker) != Truth::never) open.push_back(part);
        return open.size() == 1 ? settle_rule(open.front(), c, marker) : Settled::unchanged;
    }
    Settled all = Settled::unchanged;
    for (const std::size_t part : tree.parts) {
        const Settled own = settle_rule(part, c, marker);
        if (own == Settled::impossible) return own;
        all = std::max(all, own);
    }
    return all;
}

// No edge may lead from what must come below the beginning to what must come above the end.
CaseRules::Settled CaseRules::settle_no_path(Pair pair, Case& c, const CaseMarker& marker) const {
    static const std::vector<VarSet> no_order(64, 0);
    const VarSet below = with_descendants(c, pair.first, no_order), above = with_ancestors(c, pair.second, no_order);
    if (below & above) return Settled::impossible;
    Settled all = Settled::unchanged;
    for (VarSet rest = above; rest; rest &= rest - 1) {
        const ParentFact fact{first_of(rest), Kind::none_of, below};
        if (marker.truth_of(c, fact) == Truth::always) continue;
        if (!marker.have(c, fact)) return Settled::impossible;
        all = Settled::changed;
    }
    return all;
}

// Edges that may be must lead to the end; where only one variable can have a parent below the beginning, it must.
CaseRules::Settled CaseRules::settle_path(Pair pair, Case& c, const CaseMarker& marker) const {
    const VarSet among = may_lie_on(pair);
    std::vector<VarSet> must, may;
    for (int x = 0; x < n_variables(); ++x) {
        must.push_back(c.of[x].must);
        may.push_back(marker.possible(c, x));
    }
    if (!has(reached_from(pair.first, among, may), pair.second)) return Settled::impossible;
    const VarSet inside = reached_from(pair.first, among, must);
    if (has(inside, pair.second)) return Settled::unchanged;
    FactClause open;
    for (const ParentFact& fact : ways_out(pair, inside)) {
        const Truth truth = marker.truth_of(c, fact);
        if (truth == Truth::always) return Settled::unchanged;
        if (truth == Truth::open) open.push_back(fact);
    }
    if (open.size() > 1) return Settled::unchanged;
    return !open.empty() && marker.have(c, open.front()) ? Settled::changed : Settled::impossible;
}

}  // namespace topdag
