// completion_oracle.cpp
#include "partial_networks/completion_oracle.h"

#include "base/infinity.h"
#include "families/components.h"
#include "orders/order_search.h"

namespace topdag {

namespace {

// Shows what is listed again when a search inside it has ended.
class Aside {
public:
    explicit Aside(Limits& limits)
        : limits_(limits), phase_(limits.phase), done_(limits.done), total_(limits.total), bound_(limits.bound) {}
    ~Aside() {
        limits_.begin(phase_, total_);
        limits_.done = done_;
        limits_.bound = bound_;
    }
    Aside(const Aside&) = delete;

private:
    Limits& limits_;
    Phase phase_;
    std::uint64_t done_, total_;
    double bound_;
};

}  // namespace

double CompletionOracle::value(VarSet placed) {
    auto known = known_.find(placed);
    if (known == known_.end()) {
        ++calls_;
        find(placed);
        known = known_.find(placed);
    }
    return known->second;
}

void LatticeOracle::find(VarSet placed) {
    const VarSet everything = all_of(lattice_.n_variables());
    keep(placed, lattice_.backward(placed));
    while (placed != everything && lattice_.backward(placed) > minus_infinity) {
        VarSet rest = everything & ~placed;
        const auto after = [&](VarSet x) { return lattice_.best(first_of(x), placed) + lattice_.backward(placed | x); };
        while (after(rest & -rest) != lattice_.backward(placed)) rest &= rest - 1;
        placed |= rest & -rest;
        keep(placed, lattice_.backward(placed));
    }
}

const std::vector<int>& OrderOracle::best_order() {
    value(0);
    return best_order_;
}

void OrderOracle::find(VarSet placed) {
    constexpr double hopeless = minus_infinity;
    OrderQuestion question;
    question.memory = memory_;
    question.upper = most_cost(placed);
    if (question.upper < 0.0) {
        keep(placed, hopeless);
        return;
    }
    OrderResult found;
    {
        const Aside aside(limits_);
        found = search_orders(with_free(placed), bound_, question, limits_);
    }
    if (found.memory_hit) {
        memory_hit_ = true;
        limits_.stop = true;
    }
    if (found.order.empty()) {
        keep(placed, found.finished ? hopeless : -found.bound);
        return;
    }
    if (placed == 0) best_order_ = found.order;
    double rest = found.cost;
    keep(placed, -rest);
    for (int x : found.order) {
        if (has(placed, x)) continue;
        rest -= candidates_.least_cost(x, placed);
        placed |= only(x);
        keep(placed, -rest);
    }
}

// What a completion may cost at most in a network that is asked for: each of those that are placed costs no less than
// it does when all the others come before it.
double OrderOracle::most_cost(VarSet placed) {
    if (placed == 0) return Candidates::no_family;
    double left = epsilon_ - value(0);
    if (left == Candidates::no_family) return left;
    for (VarSet rest = placed; rest != 0; rest &= rest - 1) left -= candidates_.least_cost(first_of(rest), placed);
    return left;
}

// Those that are placed need nothing and cost nothing, so the search begins with all of them. No family of the others
// is lost, but for those that are never needed, so costs and the bound are still those of the whole question.
Candidates OrderOracle::with_free(VarSet placed) const {
    const int n = candidates_.n_variables();
    const Component rest{all_of(n) & ~placed, placed};
    std::vector<std::int64_t> offsets{0};
    std::vector<VarSet> parents;
    std::vector<double> scores;
    const auto add = [&](const Candidate& family) {
        parents.push_back(family.parents);
        scores.push_back(-family.cost);
    };
    for (int x = 0; x < n; ++x) {
        if (has(placed, x)) add({0, 0.0});
        else
            for (const Candidate& family : useful_families(candidates_, x, rest)) add(family);
        offsets.push_back(static_cast<std::int64_t>(parents.size()));
    }
    return Candidates(n, offsets.data(), parents.data(), scores.data());
}

}  // namespace topdag
