#include "climbing/parent_trees.h"

#include <algorithm>

namespace topdag {

namespace {

constexpr double least_gain = 1e-9;  // below, scores differ by rounding
constexpr std::size_t most_branches = 6'000'000;  // about 100 MB; then trees are grown anew
constexpr std::int32_t none = -1;

}  // namespace

template <class Set>
ParentTrees<Set>::ParentTrees(std::unique_ptr<ScoreSource<Set>> families, std::vector<ParentRules<Set>> rules)
    : families_(std::move(families)), rules_(std::move(rules)), roots_(rules_.size(), none), listed_(rules_.size()),
      scores_(rules_.size()) {}

template <class Set>
void ParentTrees<Set>::forget() {
    nodes_.clear();
    std::fill(roots_.begin(), roots_.end(), none);
    n_branches_ = 0;
}

template <class Set>
std::int32_t ParentTrees<Set>::root(int x) {
    if (roots_[x] == none) {
        roots_[x] = static_cast<std::int32_t>(nodes_.size());
        nodes_.push_back({{families_->score(x, rules_[x].must), rules_[x].must}, {}, {}});
    }
    return roots_[x];
}

template <class Set>
std::int32_t ParentTrees<Set>::child(std::int32_t node, std::size_t branch) {
    const Branch taken = nodes_[node].branches[branch];
    if (taken.child != none) return taken.child;
    const auto made = static_cast<std::int32_t>(nodes_.size());
    nodes_[node].branches[branch].child = made;
    nodes_.push_back({{taken.score, nodes_[node].own.parents | only<Set>(taken.p)}, {}, {}});
    return made;
}

template <class Set>
const typename ParentTrees<Set>::Node* ParentTrees<Set>::grown(int x, std::int32_t at) {
    Node& node = nodes_[at];
    if (node.is_grown) return &node;
    if (is_exhausted()) return nullptr;
    const ParentRules<Set>& rules = rules_[x];
    const int size = size_of(node.own.parents);
    Set more = rules.among.empty() && size < rules.most ? rules.may & ~node.own.parents : Set{0};
    if (more != 0) families_->scores_with_one_more(x, node.own.parents, more, scores_);
    for (; more != 0; more &= more - 1) {
        const int p = first_of(more);
        if (scores_[p] > node.own.score + least_gain || size < rules.least) node.branches.push_back({p, none, scores_[p]});
    }
    std::stable_sort(node.branches.begin(), node.branches.end(),
                     [](const Branch& a, const Branch& b) { return a.score > b.score; });
    node.branches.shrink_to_fit();
    node.is_grown = true;
    n_branches_ += node.branches.size() + 4;
    return &node;
}

template <class Set>
bool ParentTrees<Set>::satisfies(int x, Set parents) const {
    const ParentRules<Set>& own = rules_[x];
    if (!own.among.empty()) return std::find(own.among.begin(), own.among.end(), parents) != own.among.end();
    return is_subset(own.must, parents) && is_subset(parents, own.may | own.must) && size_of(parents) >= own.least &&
           size_of(parents) <= own.most;
}

// Takes out the parent that costs most, while one does.
template <class Set>
bool ParentTrees<Set>::shrink(int x, Node& node) {
    if (node.is_shrunk) return true;
    if (is_exhausted()) return false;
    ScoredParents<Set> best = node.own;
    for (bool is_better = true; is_better && size_of(best.parents) > rules_[x].least;) {
        is_better = false;
        const Set from = best.parents;
        for (Set rest = from & ~rules_[x].must; rest != 0; rest &= rest - 1) {
            const Set fewer = from & ~only<Set>(first_of(rest));
            const double score = families_->score(x, fewer);
            if (score <= best.score + least_gain) continue;
            best = {score, fewer};
            is_better = true;
        }
    }
    node.shrunk = best;
    return node.is_shrunk = true;
}

template <class Set>
std::optional<ScoredParents<Set>> ParentTrees<Set>::best_within(int x, Set within) {
    if (!is_subset(rules_[x].must, within)) return ScoredParents<Set>{hopeless, rules_[x].must};
    if (!rules_[x].among.empty()) return listed_within(x, within);
    if (n_branches_ > most_branches) forget();
    for (std::int32_t at = root(x);;) {
        const Node* node = grown(x, at);
        if (node == nullptr) return std::nullopt;
        const auto fits = [&](const Branch& branch) { return has(within, branch.p); };
        const auto next = std::find_if(node->branches.begin(), node->branches.end(), fits);
        if (next != node->branches.end()) {
            at = child(at, static_cast<std::size_t>(next - node->branches.begin()));
            continue;
        }
        if (size_of(node->own.parents) < rules_[x].least) return ScoredParents<Set>{hopeless, node->own.parents};
        if (!shrink(x, nodes_[at])) return std::nullopt;
        return nodes_[at].shrunk;
    }
}

template <class Set>
std::optional<ScoredParents<Set>> ParentTrees<Set>::listed_within(int x, Set within) {
    std::vector<ScoredParents<Set>>& listed = listed_[x];
    const std::vector<Set>& among = rules_[x].among;
    while (listed.size() < among.size()) {
        if (is_exhausted()) return std::nullopt;
        const Set parents = among[listed.size()];
        listed.push_back({families_->score(x, parents), parents});
        if (listed.size() == among.size())
            std::stable_sort(listed.begin(), listed.end(),
                             [](const ScoredParents<Set>& a, const ScoredParents<Set>& b) { return a.score > b.score; });
    }
    for (const ScoredParents<Set>& own : listed)
        if (is_subset(own.parents, within)) return own;
    return ScoredParents<Set>{hopeless, 0};
}

template class ParentTrees<WideSet>;
template class ParentTrees<VastSet>;

}  // namespace topdag
