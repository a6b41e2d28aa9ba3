// satisfying_orders.cpp
#include "cycles/satisfying_orders.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/draws.h"

namespace topdag {

namespace {

// The network of one order while it is mended.
class Mending {
public:
    Mending(const Candidates& candidates, const CaseRules& rules, const std::vector<int>& order)
        : candidates_(candidates), rules_(rules), n_(candidates.n_variables()), within_(n_), chosen_(n_), facts_(n_) {
        VarSet placed = 0;
        for (const int x : order) {
            within_[x] = placed;
            placed |= only(x);
        }
    }

    // The parents and what they cost; nothing when that is no less than `upper` or a rule stays broken.
    std::optional<std::pair<double, std::vector<VarSet>>> below(double upper) {
        for (int x = 0; x < n_; ++x)
            if (!take(x, first_fitting(x, nullptr))) return std::nullopt;
        while (cost() < upper) {
            const std::vector<VarSet> parents = chosen_parents();
            const std::vector<FactClause> broken = rules_.broken(parents);
            if (broken.empty()) return std::pair{cost(), parents};
            if (!mend(broken.front())) return std::nullopt;
        }
        return std::nullopt;
    }

private:
    double cost() const {
        double total = 0.0;
        for (int x = 0; x < n_; ++x) total += candidates_.of(x)[chosen_[x]].cost;
        return total;
    }

    std::vector<VarSet> chosen_parents() const {
        std::vector<VarSet> parents;
        for (int x = 0; x < n_; ++x) parents.push_back(candidates_.of(x)[chosen_[x]].parents);
        return parents;
    }

    bool mend(const FactClause& clause) {
        const ParentFact* cheapest = nullptr;
        double least = Candidates::no_family;
        for (const ParentFact& fact : clause) {
            const std::vector<Candidate>& families = candidates_.of(fact.child);
            const std::size_t found = first_fitting(fact.child, &fact);
            if (found == families.size()) continue;
            const double price = families[found].cost - families[chosen_[fact.child]].cost;
            if (price < least) {
                least = price;
                cheapest = &fact;
            }
        }
        if (cheapest == nullptr) return false;
        facts_[cheapest->child].push_back(*cheapest);
        return take(cheapest->child, first_fitting(cheapest->child, nullptr));
    }

    bool take(int x, std::size_t family) {
        chosen_[x] = family;
        return family < candidates_.of(x).size();
    }

    // From the one chosen last on: facts are only added.
    std::size_t first_fitting(int x, const ParentFact* further) const {
        const std::vector<Candidate>& families = candidates_.of(x);
        const auto fits = [&](const Candidate& family) {
            const auto is_there = [&](const ParentFact& fact) { return fact.holds(family.parents); };
            return is_subset(family.parents, within_[x]) && (further == nullptr || is_there(*further)) &&
                   std::all_of(facts_[x].begin(), facts_[x].end(), is_there);
        };
        return std::find_if(families.begin() + chosen_[x], families.end(), fits) - families.begin();
    }

    const Candidates& candidates_;
    const CaseRules& rules_;
    int n_;
    std::vector<VarSet> within_;
    std::vector<std::size_t> chosen_;
    std::vector<std::vector<ParentFact>> facts_;
};

class SatisfyingOrders {
public:
    SatisfyingOrders(const Candidates& candidates, const CaseRules& rules, std::uint64_t seed, Limits& limits)
        : candidates_(candidates), rules_(rules), limits_(limits), draws_(seed),
          best_{Candidates::no_family, std::vector<VarSet>(candidates.n_variables(), 0), {}} {}

    OrderedNetwork found() { return std::move(best_); }

    void draw(std::int64_t orders) {
        for (std::int64_t i = 0; i < orders && !limits_.reached(); ++i) {
            if (OrderedNetwork drawn = random_network(best_.cost); drawn.cost < best_.cost) best_ = std::move(drawn);
            limits_.done.fetch_add(1);
        }
    }

    // Each from the best order with a few variables moved, every tenth from a random one.
    void climb(std::int64_t climbs) {
        if (best_.cost == Candidates::no_family) return;
        climb_from(best_);
        for (std::int64_t i = 1; i < climbs && !limits_.reached(); ++i) {
            OrderedNetwork own = i % 10 == 9 ? random_network(Candidates::no_family) : disturbed();
            if (own.cost == Candidates::no_family) continue;
            climb_from(own);
            if (own.cost <= best_.cost) best_ = std::move(own);
            limits_.done.fetch_add(1);
        }
    }

private:
    // Takes the first better place of each variable in turn, until none has one.
    void climb_from(OrderedNetwork& network) {
        const int n = candidates_.n_variables();
        for (int since_better = 0, v = 0; since_better < n && !limits_.reached(); v = (v + 1) % n)
            since_better = moves_to_better(network, v) ? 0 : since_better + 1;
    }

    bool moves_to_better(OrderedNetwork& network, int v) {
        const auto from = std::find(network.order.begin(), network.order.end(), v) - network.order.begin();
        for (std::ptrdiff_t to = 0; to < static_cast<std::ptrdiff_t>(network.order.size()); ++to) {
            if (to == from) continue;
            std::vector<int> moved = network.order;
            moved.erase(moved.begin() + from);
            moved.insert(moved.begin() + to, v);
            if (!is_in_order(moved)) continue;
            if (OrderedNetwork better = mended(std::move(moved), network.cost); better.cost < network.cost) {
                network = std::move(better);
                return true;
            }
        }
        return false;
    }

    // The network of an order; infinite cost when it costs no less than `upper` or cannot be mended.
    OrderedNetwork mended(std::vector<int> order, double upper) const {
        auto found = Mending(candidates_, rules_, order).below(upper);
        if (!found) return {Candidates::no_family, {}, {}};
        return {found->first, std::move(found->second), std::move(order)};
    }

    OrderedNetwork random_network(double upper) {
        std::vector<int> order(candidates_.n_variables());
        std::iota(order.begin(), order.end(), 0);
        draws_.shuffle(order);
        if (!put_in_place(order)) return {Candidates::no_family, {}, {}};
        return mended(std::move(order), upper);
    }

    OrderedNetwork disturbed() {
        std::vector<int> order = best_.order;
        const int n = candidates_.n_variables(), swaps = 2 + draws_.below(3 + n / 8);
        for (int i = 0; i < swaps; ++i) std::swap(order[draws_.below(n)], order[draws_.below(n)]);
        if (!put_in_place(order)) return {Candidates::no_family, {}, {}};
        return mended(std::move(order), Candidates::no_family);
    }

    bool is_in_order(const std::vector<int>& order) const {
        VarSet placed = 0;
        for (const int x : order) {
            if (!is_subset(rules_.before()[x], placed)) return false;
            placed |= only(x);
        }
        return true;
    }

    // At each place comes the first variable left that may come and has a family that fits; false: there is none.
    bool put_in_place(std::vector<int>& order) const {
        VarSet placed = 0;
        for (auto place = order.begin(); place != order.end(); ++place) {
            const auto fits = [&](int x) {
                return is_subset(rules_.before()[x], placed) &&
                       candidates_.least_cost(x, placed) < Candidates::no_family;
            };
            const auto next = std::find_if(place, order.end(), fits);
            if (next == order.end()) return false;
            std::rotate(place, next, next + 1);
            placed |= only(*place);
        }
        return true;
    }

    const Candidates& candidates_;
    const CaseRules& rules_;
    Limits& limits_;
    Draws draws_;
    OrderedNetwork best_;
};

}  // namespace

OrderedNetwork sample_satisfying(const Candidates& candidates, const CaseRules& rules, const SatisfyingSearch& search,
                                 Limits& limits) {
    SatisfyingOrders orders(candidates, rules, search.seed, limits);
    limits.begin(Phase::searching, static_cast<std::uint64_t>(search.orders + search.climbs));
    orders.draw(search.orders);
    orders.climb(search.climbs);
    return orders.found();
}

}  // namespace topdag
