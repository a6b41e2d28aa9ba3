// leaf_steps.cpp
#include "partial_networks/leaf_steps.h"

#include <algorithm>

namespace topdag {

LeafSteps::List& LeafSteps::from(VarSet placed) {
    const auto [found, is_new] = lists_.try_emplace(placed);
    if (is_new) {
        found->second.placed = placed;
        bytes_ += bytes_a_list;
    }
    return found->second;
}

void LeafSteps::lengthen(List& list) {
    const std::size_t most = std::max(first_length, 4 * list.steps.size());
    best_.clear();
    for (int x = 0; x < families_.n_variables(); ++x)
        if (!has(list.placed, x)) offer_steps_of(x, list.placed, most);
    std::sort(best_.begin(), best_.end(), LeafStep::is_before);
    bytes_ += (best_.size() - list.steps.size()) * sizeof(LeafStep);
    list.steps.assign(best_.begin(), best_.end());
    list.is_whole = list.steps.size() < most;
}

// Subset by subset when there are few, else family by family, best first, until none can be among the best.
void LeafSteps::offer_steps_of(int x, VarSet placed, std::size_t most) {
    const double after = bound_.after(placed | only(x));
    if (after == minus_infinity) return;
    const auto offer_family = [&](VarSet parents, double local) {
        offer({local + bound_.growth(placed, size_of(parents)) + after, PackedFamily(x, parents)}, most);
    };
    const PackedFamilies::Parents& own = families_.best_first(x);
    if (n_sets(size_of(placed)) < own.size()) {
        VarSet parents = placed;
        while (true) {
            const double local = families_.local(x, parents);
            if (local > minus_infinity) offer_family(parents, local);
            if (parents == 0) return;
            parents = (parents - 1) & placed;
        }
    }
    const double growth = bound_.growth(placed, 0);
    for (auto parents = families_.first_within(x, placed); parents != own.end(); ++parents) {
        const double local = families_.local(x, *parents);
        if (best_.size() == most && local + growth + after < best_.front().most) return;
        if (is_subset(*parents, placed)) offer_family(*parents, local);
    }
}

void LeafSteps::offer(const LeafStep& step, std::size_t most) {
    if (best_.size() == most) {
        if (!LeafStep::is_before(step, best_.front())) return;
        std::pop_heap(best_.begin(), best_.end(), LeafStep::is_before);
        best_.pop_back();
    }
    best_.push_back(step);
    std::push_heap(best_.begin(), best_.end(), LeafStep::is_before);
}

}  // namespace topdag
