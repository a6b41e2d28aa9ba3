#include "order_prior/worth_climbing.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace topdag {

namespace {

constexpr std::size_t families_tried = 40;  // of a variable, by bound, when a network is improved
constexpr double gain_tried = 1.0;          // that a change of one family may bring in orders
constexpr std::size_t most_neighbours = 1 << 18;
constexpr std::size_t least_counted = 1000, most_around = 1000, counted_each = 50;

struct Change {
    double loss;
    int x;
    VarSet parents;
};

bool loses_less(const Change& a, const Change& b) { return a.loss < b.loss; }

// All other parents of x from among those before it.
void add_changes(const Lattice& lattice, int x, VarSet before, VarSet now, BigArray& local,
                 std::vector<Change>& changes) {
    lattice.scores().fill(x, 0, local.size(), local.data());
    const double own = local[without_bit(now, x)];
    for (VarSet parents = before;; parents = (parents - 1) & before) {
        const double loss = own - local[without_bit(parents, x)];
        if (std::isfinite(loss) && parents != now) changes.push_back({loss, x, parents});
        if (parents == 0) return;
    }
}

void keep_the_least(std::vector<Change>& changes, std::size_t most) {
    if (changes.size() <= most) return;
    std::nth_element(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(most), changes.end(), loses_less);
    changes.resize(most);
}

FamilyChoice most_promising(const std::vector<AllowedFamily>& own) {
    FamilyChoice best;
    for (const AllowedFamily& family : own) best.push_back(&family);
    std::stable_sort(best.begin(), best.end(), [](auto* a, auto* b) { return a->bound > b->bound; });
    if (best.size() > families_tried) best.resize(families_tried);
    return best;
}

// Nothing when one of them is not allowed any more.
std::optional<FamilyChoice> families_with(const std::vector<VarSet>& parents, const AllowedFamilies& families) {
    FamilyChoice choice;
    for (std::size_t x = 0; x < families.size(); ++x) {
        const auto at = std::find_if(families[x].begin(), families[x].end(),
                                     [&](const AllowedFamily& family) { return family.parents == parents[x]; });
        if (at == families[x].end()) return std::nullopt;
        choice.push_back(&*at);
    }
    return choice;
}

void count_changes(const FamilyChoice& choice, double value, const AllowedFamilies& families, WorthList& found,
                   std::size_t enough) {
    for (std::size_t x = 0; x < families.size(); ++x)
        for (const AllowedFamily& family : families[x]) {
            const double likely = value + family.score - choice[x]->score + gain_tried;
            if (found.n_counted() >= enough || std::min(family.bound, likely) < found.threshold()) continue;
            FamilyChoice changed = choice;
            changed[x] = &family;
            count_choice(changed, found);
        }
}

}  // namespace

void count_neighbours(const Lattice& lattice, const BestNetwork& best, double log_most_weight, WorthList& found,
                      Limits& limits) {
    std::vector<Change> changes;
    BigArray local(n_sets(lattice.n_variables() - 1));
    for (VarSet placed = all_of(lattice.n_variables()); placed != 0 && !limits.reached();) {
        const int x = lattice.last_variable(placed);
        placed &= ~only(x);
        add_changes(lattice, x, placed, best.parents[x], local, changes);
        keep_the_least(changes, std::min(found.most(), most_neighbours));
    }
    std::sort(changes.begin(), changes.end(), loses_less);
    for (const Change& change : changes) {
        if (limits.reached() || best.score - change.loss + log_most_weight < found.threshold()) return;
        std::vector<VarSet> parents = best.parents;
        parents[change.x] = change.parents;
        found.count(best.score - change.loss, parents);
    }
}

std::optional<FamilyChoice> best_along(const std::vector<int>& order, const AllowedFamilies& families) {
    FamilyChoice choice(families.size());
    VarSet placed = 0;
    for (const int x : order) {
        for (const AllowedFamily& family : families[x])
            if (is_subset(family.parents, placed) && (choice[x] == nullptr || family.score > choice[x]->score))
                choice[x] = &family;
        if (choice[x] == nullptr) return std::nullopt;
        placed |= only(x);
    }
    return choice;
}

double count_choice(const FamilyChoice& choice, WorthList& found) {
    double score = 0.0;
    std::vector<VarSet> parents;
    for (const AllowedFamily* family : choice) {
        score += family->score;
        parents.push_back(family->parents);
    }
    return found.count(score, parents);
}

void climb(FamilyChoice choice, double value, const AllowedFamilies& families, WorthList& found, Limits& limits) {
    for (bool better = true; better;) {
        better = false;
        for (std::size_t x = 0; x < families.size() && !limits.reached(); ++x)
            for (const AllowedFamily* family : most_promising(families[x])) {
                if (family == choice[x] || family->bound < value) continue;
                FamilyChoice changed = choice;
                changed[x] = family;
                const double now = count_choice(changed, found);
                if (now <= value) continue;
                value = now;
                choice = std::move(changed);
                better = true;
            }
    }
}

void count_around(const AllowedFamilies& families, WorthList& found, Limits& limits) {
    std::set<std::vector<VarSet>> done;
    const std::size_t enough = found.n_counted() + least_counted + counted_each * std::min(found.most(), most_around);
    while (found.n_counted() < enough && !limits.reached()) {
        const auto next = std::find_if(found.entries().begin(), found.entries().end(),
                                       [&](const auto& entry) { return !done.contains(entry.second); });
        if (next == found.entries().end()) return;
        const double value = -next->first;
        done.insert(next->second);
        const auto choice = families_with(next->second, families);
        if (choice) count_changes(*choice, value, families, found, enough);
    }
}

}  // namespace topdag
