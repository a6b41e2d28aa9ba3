#include "network_search.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace topdag {

namespace {

constexpr std::uint64_t check_every = 64;  // nodes between two looks at the clock

std::string key_of(VarSet placed, const std::vector<std::uint32_t>& parents) {
    std::string key(reinterpret_cast<const char*>(&placed), sizeof placed);
    return key.append(reinterpret_cast<const char*>(parents.data()), parents.size() * sizeof(std::uint32_t));
}

}  // namespace

double LatticeOracle::value(VarSet placed) {
    const auto known = known_.find(placed);
    if (known != known_.end()) return known->second;
    ++calls_;
    prime(placed);
    return lattice_.backward(placed);
}

void LatticeOracle::prime(VarSet placed) {
    const VarSet everything = n_sets(lattice_.n_variables()) - 1;
    known_.emplace(placed, lattice_.backward(placed));
    while (placed != everything && lattice_.backward(placed) > -std::numeric_limits<double>::infinity()) {
        VarSet rest = everything & ~placed;
        while (lattice_.best(first_of(rest), placed) + lattice_.backward(placed | (rest & -rest)) != lattice_.backward(placed))
            rest &= rest - 1;
        placed |= rest & -rest;
        known_.emplace(placed, lattice_.backward(placed));
    }
}

NetworkSearch::NetworkSearch(const Lattice& lattice, const FamilyTable& families, const std::vector<int>& order, std::size_t block)
    : lattice_(lattice), families_(families), order_(order), block_(block), oracle_(lattice), queue_(IsLater{this}) {
    nodes_.push_back({0, 0.0, std::vector<std::uint32_t>(lattice.n_variables(), 0)});
    queue_.push({oracle_.value(0), 0});
    ++counts_.generated;
}

bool NetworkSearch::next(Limits& limits) {
    const VarSet everything = n_sets(lattice_.n_variables()) - 1;
    for (std::uint64_t popped = 0; !queue_.empty(); ++popped) {
        if (queue_.top().most == -std::numeric_limits<double>::infinity()) return false;
        if (popped % check_every == 0 && limits.reached()) return false;
        const std::uint32_t index = queue_.top().node;
        queue_.pop();
        if (nodes_[index].placed != everything) {
            expand(index);
            continue;
        }
        ++counts_.expanded;
        parents = std::move(nodes_[index].parents);
        score = nodes_[index].score;
        return true;
    }
    return false;
}

double NetworkSearch::bound() const {
    return queue_.empty() ? -std::numeric_limits<double>::infinity() : queue_.top().most;
}

SearchCounts NetworkSearch::counts() const {
    SearchCounts counts = counts_;
    counts.oracle_calls = oracle_.calls();
    return counts;
}

bool NetworkSearch::path_is_before(std::uint32_t a, std::uint32_t b) {
    if (a == b) return false;
    Path first{nodes_[a]}, second{nodes_[b]};
    while (true) {
        const std::optional<Step> one = next_of(first), other = next_of(second);
        if (!one || !other) return !one && other;
        if (one->x == other->x && one->parents == other->parents) continue;
        return Step::is_before(*one, *other);
    }
}

std::optional<Step> NetworkSearch::next_of(Path& path) {
    const Node& node = path.node;
    if (path.placed == node.placed) {
        if (node.next_step == 0 || std::exchange(path.ended, true)) return std::nullopt;
        return steps_from(node.placed)[node.next_step];
    }
    const auto can_come = [&](int x) { return has(node.placed & ~path.placed, x) && is_subset(node.parents[x], path.placed); };
    const int x = *std::find_if(order_.begin(), order_.end(), can_come);
    path.placed |= only(x);
    double local = 0.0;
    lattice_.scores().fill(x, without_bit(node.parents[x], x), 1, &local);
    return Step{node.parents[x], local, local + oracle_.value(path.placed), x};
}

const std::vector<Step>& NetworkSearch::steps_from(VarSet placed) {
    const auto known = steps_.find(placed);
    if (known != steps_.end()) return known->second;
    std::vector<Step> steps;
    for (int x = 0; x < lattice_.n_variables(); ++x) {
        if (has(placed, x)) continue;
        const double rest = oracle_.value(placed | only(x));
        for (const ScoredFamily& family : families_[x])
            if (is_subset(family.parents, placed)) steps.push_back({family.parents, family.score, family.score + rest, x});
    }
    std::sort(steps.begin(), steps.end(), Step::is_before);
    return steps_.emplace(placed, std::move(steps)).first->second;
}

void NetworkSearch::expand(std::uint32_t index) {
    const std::vector<Step>& steps = steps_from(nodes_[index].placed);
    const std::size_t begin = nodes_[index].next_step;
    const std::size_t end = std::min(begin + block_, steps.size());
    ++(begin == 0 ? counts_.expanded : counts_.re_expanded);
    const Node node = nodes_[index];  // adding may move the nodes
    for (std::size_t i = begin; i < end; ++i) add(node, steps[i]);
    nodes_[index].next_step = end;
    if (end < steps.size()) queue_.push({node.score + steps[end].most, index});
}

void NetworkSearch::add(const Node& node, const Step& step) {
    Node larger{node.placed | only(step.x), node.score + step.score, node.parents};
    larger.parents[step.x] = static_cast<std::uint32_t>(step.parents);
    if (!met_.insert(key_of(larger.placed, larger.parents)).second) return;
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(std::move(larger));
    queue_.push({node.score + step.most, index});
    ++counts_.generated;
}

}  // namespace topdag
