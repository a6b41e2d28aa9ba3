// tree_search.cpp
#include "partial_networks/tree_search.h"

#include <algorithm>
#include <cmath>

#include "base/infinity.h"

namespace topdag {

namespace {

constexpr double tolerance = 1e-9;  // of bounds, for each unit

}  // namespace

TreeSearch::TreeSearch(const PackedFamilies& families, NetworkPrior& prior, const std::vector<int>& order,
                       std::size_t block, double slack, std::size_t memory)
    : n_(families.n_variables()),
      families_(families),
      prior_(prior),
      steps_(families, prior),
      order_(order),
      place_(order.size()),
      block_(block),
      slack_(slack),
      memory_(memory) {
    for (std::size_t place = 0; place < order.size(); ++place) place_[order[place]] = static_cast<int>(place);
    built_.network.parents.assign(n_, 0);
    built_.network.above.assign(n_, 0);
    built_.blockers.assign(n_, 0);
    nodes_.push_back({0.0, 0.0, 0, PackedFamily(), 0, false, false});
    push({infinity, 0, 0});
    ++counts.generated;
}

bool TreeSearch::next(Limits& limits) {
    while (!queue_.empty()) {
        if (limits.reached()) return false;
        if (takes_too_much()) {
            memory_hit_ = true;
            return false;
        }
        const Entry entry = pop();
        if (static_cast<int>(entry.n_placed) == n_ && nodes_[entry.node].is_weighed) {
            give(entry);
            ++counts.expanded;
            return true;
        }
        limits.bound.store(entry.most, std::memory_order_relaxed);
        if (nodes_[entry.node].is_weighed) {
            built(entry.node);
            expand(entry);
        } else {
            weigh(entry);
        }
    }
    return false;
}

bool TreeSearch::next_complete() {
    while (!queue_.empty()) {
        const Entry entry = pop();
        if (static_cast<int>(entry.n_placed) != n_ || !nodes_[entry.node].is_weighed) continue;
        give(entry);
        return true;
    }
    return false;
}

double TreeSearch::bound() const { return queue_.empty() ? minus_infinity : queue_.front().most; }

void TreeSearch::give(const Entry& entry) {
    parents = parents_of(entry.node);
    value = entry.most;
    score = nodes_[entry.node].score;
}

// What is complete comes after all else that may be worth as much.
bool TreeSearch::is_later(const Entry& a, const Entry& b) const {
    if (a.most != b.most) return a.most < b.most;
    const bool a_is_complete = static_cast<int>(a.n_placed) == n_, b_is_complete = static_cast<int>(b.n_placed) == n_;
    if (a_is_complete != b_is_complete) return a_is_complete;
    if (a_is_complete && a.node != b.node) return parents_of(a.node) > parents_of(b.node);
    return a.n_placed != b.n_placed ? a.n_placed < b.n_placed : a.node > b.node;
}

void TreeSearch::push(const Entry& entry) {
    if (entry.most == minus_infinity) return;
    queue_.push_back(entry);
    std::push_heap(queue_.begin(), queue_.end(), [this](const Entry& a, const Entry& b) { return is_later(a, b); });
}

TreeSearch::Entry TreeSearch::pop() {
    std::pop_heap(queue_.begin(), queue_.end(), [this](const Entry& a, const Entry& b) { return is_later(a, b); });
    const Entry entry = queue_.back();
    queue_.pop_back();
    return entry;
}

bool TreeSearch::takes_too_much() const {
    const bool grows = queue_.size() + block_ + 1 > queue_.capacity();
    const std::size_t queue = queue_.capacity() * sizeof(Entry) * (grows ? 3 : 1);
    return nodes_.bytes() + queue + steps_.bytes() > memory_ || nodes_.size() + block_ + 1 >= SetMap::none;
}

const PartialNetwork& TreeSearch::built(Id id) {
    PartialNetwork& network = built_.network;
    std::fill(network.parents.begin(), network.parents.end(), 0);
    path_.clear();
    for (Id at = id; at != 0; at = nodes_[at].before) {
        const PackedFamily family = nodes_[at].family;
        network.parents[family.variable()] = family.parents();
        path_.push_back(family.variable());
    }
    std::reverse(path_.begin(), path_.end());
    network.placed = 0;
    for (const int x : path_) {
        network.above[x] = network.parents[x];
        for (VarSet left = network.parents[x]; left != 0; left &= left - 1)
            network.above[x] |= network.above[first_of(left)];
        network.placed |= only(x);
    }
    find_blockers();
    return network;
}

// Of x: the last placed variable that stands behind it in the reference order, and those placed after.
void TreeSearch::find_blockers() {
    for (int x = 0; x < n_; ++x) {
        built_.blockers[x] = 0;
        if (has(built_.network.placed, x)) continue;
        VarSet after = 0;
        for (auto y = path_.rbegin(); y != path_.rend(); ++y) {
            after |= only(*y);
            if (place_[*y] < place_[x]) continue;
            built_.blockers[x] = after;
            break;
        }
    }
}

// Of the leaf, added to the network in built_.
VarSet TreeSearch::ancestors_of(PackedFamily family) const {
    VarSet ancestors = family.parents();
    for (VarSet left = family.parents(); left != 0; left &= left - 1) ancestors |= built_.network.above[first_of(left)];
    return ancestors;
}

// To the network in built_.
bool TreeSearch::may_add(const LeafStep& step) const {
    const int x = step.family.variable();
    const VarSet blockers = built_.blockers[x];
    if (blockers != 0 && (blockers & step.family.parents()) == 0) return false;
    return prior_.may_be_best(x, families_.local(x, step.family.parents()), ancestors_of(step.family));
}

// The first one not made yet that may be, for the node in built_; null when none is left.
const LeafStep* TreeSearch::next_step_of(Id id, LeafSteps::List& steps) {
    Node& node = nodes_[id];
    while (const LeafStep* step = steps_.at(steps, node.next_step)) {
        if (may_add(*step)) return step;
        ++node.next_step;
    }
    return nullptr;
}

// Expands it at once if it is still the first.
void TreeSearch::weigh(const Entry& entry) {
    const double log_weight = prior_.log_weight(built(entry.node));
    Node& node = nodes_[entry.node];
    ++counts.weighed;
    node.is_weighed = true;
    node.log_weight = log_weight;
    if (log_weight == minus_infinity) return;
    if (static_cast<int>(entry.n_placed) == n_) {
        check_bounds(entry.node, log_weight);
        push({node.score + log_weight, entry.node, entry.n_placed});
        return;
    }
    const double most = node.score + log_weight + prior_.rest(built_.network.placed) + slack_;
    const Entry weighed{std::min(most, entry.most), entry.node, entry.n_placed};
    if (most == minus_infinity) return;
    if (queue_.empty() || is_later(queue_.front(), weighed)) {
        expand(weighed);
    } else {
        push(weighed);
    }
}

// The node in built_.
void TreeSearch::expand(const Entry& entry) {
    const Id id = entry.node;
    LeafSteps::List& steps = steps_.from(built_.network.placed);
    ++(nodes_[id].is_expanded ? counts.re_expanded : counts.expanded);
    nodes_[id].is_expanded = true;
    for (std::size_t made = 0; made < block_; ++made) {
        const LeafStep* step = next_step_of(id, steps);
        if (step == nullptr) return;
        add(id, *step, entry);
        ++nodes_[id].next_step;
    }
    const LeafStep* step = next_step_of(id, steps);
    if (step == nullptr) return;
    const double most = nodes_[id].score + nodes_[id].log_weight + step->most + slack_;
    push({std::min(most, entry.most), id, entry.n_placed});
}

void TreeSearch::add(Id id, const LeafStep& step, const Entry& entry) {
    const Node& node = nodes_[id];
    const int x = step.family.variable();
    const VarSet placed = built_.network.placed;
    const double local = families_.local(x, step.family.parents());
    const double growth = prior_.growth(placed, size_of(ancestors_of(step.family)));
    const double most = node.score + node.log_weight + local + growth + prior_.after(placed | only(x)) + slack_;
    const Id added = static_cast<Id>(nodes_.size());
    nodes_.push_back({node.score + local, node.log_weight, id, step.family, 0, false, false});
    push({std::min(most, entry.most), added, entry.n_placed + 1});
    ++counts.generated;
}

// Of every part on the path to a complete network.
void TreeSearch::check_bounds(Id id, double log_weight) {
    VarSet placed = built_.network.placed;
    for (Id at = id; at != 0;) {
        placed &= ~only(nodes_[at].family.variable());
        at = nodes_[at].before;
        const double bound = prior_.log_weight_bound(placed), achieved = log_weight - nodes_[at].log_weight;
        if (achieved > bound + tolerance * std::max(1.0, std::abs(bound))) {
            const PartialNetwork& part = built(at);
            throw BrokenBound{part.placed, part.parents, bound, achieved};
        }
    }
}

std::vector<VarSet> TreeSearch::parents_of(Id id) const {
    std::vector<VarSet> found(n_, 0);
    for (Id at = id; at != 0; at = nodes_[at].before) found[nodes_[at].family.variable()] = nodes_[at].family.parents();
    return found;
}

}  // namespace topdag
