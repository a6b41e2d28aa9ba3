#include "partial_networks/network_search.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace topdag {

namespace {

std::string key_of(VarSet placed, const std::vector<VarSet>& parents) {
    std::string key(reinterpret_cast<const char*>(&placed), sizeof placed);
    return key.append(reinterpret_cast<const char*>(parents.data()), parents.size() * sizeof(VarSet));
}

}  // namespace

NetworkSearch::NetworkSearch(const FamilyTable& families, CompletionOracle& oracle, std::vector<int> order,
                             std::size_t block)
    : n_(static_cast<int>(families.size())),
      families_(families),
      local_(families.size()),
      oracle_(oracle),
      order_(std::move(order)),
      block_(block),
      queue_(IsLater{this}) {
    for (int x = 0; x < n_; ++x)
        for (const ScoredFamily& family : families_[x]) local_[x].emplace(family.parents, family.score);
    nodes_.push_back({0, 0.0, std::vector<VarSet>(families.size(), 0)});
    queue_.push({oracle_.value(0), 0});
    ++counts_.generated;
}

bool NetworkSearch::next(double lowest, Limits& limits) {
    const VarSet everything = all_of(n_);
    while (bound() > -std::numeric_limits<double>::infinity() && bound() >= lowest) {
        if (limits.reached()) return false;  // at every node: one may ask the oracle for long
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
    const double local = local_[x].at(node.parents[x]);
    return Step{node.parents[x], local, local + oracle_.value(path.placed), x};
}

const std::vector<Step>& NetworkSearch::steps_from(VarSet placed) {
    const auto known = steps_.find(placed);
    if (known != steps_.end()) return known->second;
    std::vector<Step> steps;
    for (int x = 0; x < n_; ++x) {
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
    larger.parents[step.x] = step.parents;
    if (!met_.insert(key_of(larger.placed, larger.parents)).second) return;
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(std::move(larger));
    queue_.push({node.score + step.most, index});
    ++counts_.generated;
}

}  // namespace topdag
