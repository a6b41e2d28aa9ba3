#include "partial_networks/network_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/infinity.h"
#include "lattice/family_bounds.h"
#include "lattice/reading_back.h"

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
    while (bound() > minus_infinity && bound() >= lowest) {
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
    return queue_.empty() ? minus_infinity : queue_.top().most;
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

namespace {

// At most so many, and none further than epsilon behind the first.
void draw(NetworkSearch& search, std::size_t most, double epsilon, Limits& limits, SearchedNetworks& found) {
    const auto begin = Limits::Clock::now();
    limits.begin(Phase::listing, most);
    const auto lowest = [&] { return found.scores.empty() ? minus_infinity : found.scores.front() - epsilon; };
    while (found.scores.size() < most && search.next(lowest(), limits)) {
        found.add(search.score, search.parents);
        ++limits.done;
    }
    found.finished = !limits.stop.load();
    // A full list has been given the families that so many need, so of what scores less some may not be in the queue.
    found.floor = found.scores.size() == most ? found.scores.back() : search.bound();
    found.counts = search.counts();
    found.search_seconds = seconds_since(begin);
}

// Scores as shortfalls, negated.
FamilyTable families_from(const Candidates& candidates) {
    FamilyTable families(candidates.n_variables());
    for (int x = 0; x < candidates.n_variables(); ++x)
        for (const Candidate& family : candidates.of(x)) families[x].push_back({family.parents, -family.cost, infinity});
    return families;
}

}  // namespace

SearchedNetworks search_networks(const Lattice& lattice, std::size_t most, std::size_t block, Limits& limits) {
    SearchedNetworks found(lattice.n_variables());
    found.floor = lattice.forward(all_of(lattice.n_variables()));
    const auto begin = Limits::Clock::now();
    const KBestFamilies needed = families_for_k_best(lattice, most, false, limits);
    found.bound_seconds = seconds_since(begin);
    if (needed.families.empty()) return found;
    LatticeOracle oracle(lattice);
    NetworkSearch search(needed.families, oracle, best_order(lattice), block);
    draw(search, most, infinity, limits, found);
    return found;
}

SearchedNetworks search_listed(const Candidates& candidates, const Bound& bound, const ListedQuestion& question,
                               Limits& limits) {
    SearchedNetworks found(candidates.n_variables());
    const FamilyTable families = families_from(candidates);
    OrderOracle oracle(candidates, bound, question.epsilon, question.memory, limits);
    std::vector<int> order = oracle.best_order();
    if (order.empty()) {
        order.resize(candidates.n_variables());
        std::iota(order.begin(), order.end(), 0);
    }
    NetworkSearch search(families, oracle, std::move(order), question.block);
    draw(search, question.most, question.epsilon, limits, found);
    const double offset = candidates.best_possible();
    for (double& score : found.scores) score += offset;
    found.floor += offset;
    found.memory_hit = oracle.memory_hit();
    return found;
}

}  // namespace topdag
