// cycles.cpp: branch and bound over cycles, what networks must satisfy in it, and networks of random orders.
#include "cycles/branching.h"

#include "binding.h"
#include "candidates.h"
#include "cuts/order_climbing.h"
#include "cycles/case_rules.h"
#include "cycles/satisfying_orders.h"

namespace topdag {

namespace {

using CostedNetwork = std::pair<double, std::vector<std::uint64_t>>;
using MarksOut = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
using FactsOut = std::vector<std::tuple<int, std::string, std::uint64_t>>;
using CaseOut = std::pair<MarksOut, FactsOut>;

using Pairs = std::vector<std::pair<int, int>>;

// Rules that were checked: numbers are in range, and parts were there before the whole.
struct PyCaseRules {
    CaseRules rules;

    explicit PyCaseRules(int n) : rules((require(n >= 0 && n <= 64, "0 to 64 variables"), n)) {}

    void require_variable(int x) const { require(x >= 0 && x < rules.n_variables(), "a variable out of range"); }

    void require_parts(const std::vector<std::size_t>& parts) const {
        for (const std::size_t part : parts) require(part < rules.n_rules(), "a part that is not there");
    }

    void require_rule(std::size_t rule) {
        require_parts({rule});
        rules.require(rule);
    }
};

// A kind of fact, of rules made from others, or of pairs, as a method.
auto fact_of(ParentFact::Kind kind) {
    return [kind](PyCaseRules& own, int child, std::uint64_t bits) {
        own.require_variable(child);
        return own.rules.add_fact({child, kind, bits});
    };
}

auto whole_of(std::size_t (CaseRules::*add)(std::vector<std::size_t>)) {
    return [add](PyCaseRules& own, const std::vector<std::size_t>& parts) {
        own.require_parts(parts);
        return (own.rules.*add)(parts);
    };
}

auto pairs_of(void (CaseRules::*add)(int, int)) {
    return [add](PyCaseRules& own, const Pairs& pairs) {
        for (const auto& [a, b] : pairs) {
            own.require_variable(a);
            own.require_variable(b);
            require(a != b, "a pair of one variable");
            (own.rules.*add)(a, b);
        }
    };
}

const CaseRules& checked_rules(const PyCaseRules& own, const Candidates& candidates) {
    require(own.rules.n_variables() == candidates.n_variables(), "sizes differ");
    return own.rules;
}

BranchingResult branch(const Candidates& candidates, const PyCaseRules& own, double upper,
                       std::optional<std::uint64_t> steps, std::optional<std::size_t> memory, const Watch& watch) {
    require(!std::isnan(upper), "upper is not a number");
    const CaseRules& rules = checked_rules(own, candidates);
    const std::uint64_t most_steps = steps.value_or(~std::uint64_t{0});
    const BranchingQuestion question{upper, most_steps, memory.value_or(~std::size_t{0})};
    return watched(watch, [&](Limits& limits) { return branch_on_cycles(candidates, rules, question, limits); });
}

CostedNetwork sample(const Candidates& candidates, std::int64_t orders, std::uint64_t seed, bool climbs,
                  const Watch& watch) {
    require(orders >= 0, "orders");
    const OrderedNetwork found = watched(watch, [&](Limits& limits) {
        OrderedNetwork best = sample_orders(candidates, orders, seed, limits);
        return climbs && best.cost < Candidates::no_family ? climb_from(candidates, best.order, limits) : best;
    });
    return {found.cost, found.parents};
}

CostedNetwork sample_under_rules(const Candidates& candidates, const PyCaseRules& own, std::int64_t orders,
                            std::int64_t climbs, std::uint64_t seed, const Watch& watch) {
    require(orders >= 0 && climbs >= 0, "orders and climbs");
    const CaseRules& rules = checked_rules(own, candidates);
    const OrderedNetwork found = watched(watch, [&](Limits& limits) {
        return sample_satisfying(candidates, rules, {orders, climbs, seed}, limits);
    });
    return {found.cost, found.parents};
}

std::vector<CaseOut> plain_cases(const std::vector<Case>& cases) {
    constexpr const char* kinds[] = {"some_of", "none_of", "count_in"};
    std::vector<CaseOut> all;
    for (const Case& c : cases) {
        CaseOut own;
        for (const Marks& marks : c.of) own.first.emplace_back(marks.must, marks.without);
        for (const ParentFact& fact : c.facts)
            own.second.emplace_back(fact.child, kinds[static_cast<int>(fact.kind)], fact.bits);
        all.push_back(std::move(own));
    }
    return all;
}

}  // namespace

void bind_branching(nb::module_& m) {
    nb::class_<PyCaseRules>(m, "CaseRules", "What networks must satisfy: trees of facts, paths, orders.")
        .def(nb::init<int>(), "n"_a)
        .def("some_of", fact_of(ParentFact::Kind::some_of), "child"_a, "parents"_a,
             "That the child has one of these parents; the number of this rule.")
        .def("none_of", fact_of(ParentFact::Kind::none_of), "child"_a, "parents"_a, "That it has none of them.")
        .def("count_in", fact_of(ParentFact::Kind::count_in), "child"_a, "counts"_a,
             "That the number of its parents is one of these bits.")
        .def("any_of", whole_of(&CaseRules::add_any), "parts"_a)
        .def("all_of", whole_of(&CaseRules::add_all), "parts"_a)
        .def("require", &PyCaseRules::require_rule, "rule"_a)
        .def("require_paths", pairs_of(&CaseRules::require_path), "pairs"_a)
        .def("forbid_paths", pairs_of(&CaseRules::forbid_path), "pairs"_a)
        .def("put_before", pairs_of(&CaseRules::put_before), "pairs"_a)
        .def(
            "allow",
            [](const PyCaseRules& own, const std::vector<std::uint64_t>& parents) {
                require(static_cast<int>(parents.size()) == own.rules.n_variables(), "sizes differ");
                return own.rules.allow(parents);
            },
            "parents"_a, "Whether a network with these parents breaks no rule and no path; orders are not looked at.");
    nb::class_<BranchingResult>(m, "BranchingResult")
        .def_ro("finished", &BranchingResult::finished)
        .def_ro("cost", &BranchingResult::cost)
        .def_ro("bound", &BranchingResult::bound)
        .def_ro("parents", &BranchingResult::parents)
        .def_ro("steps", &BranchingResult::steps)
        .def_ro("made", &BranchingResult::made)
        .def_ro("networks", &BranchingResult::networks)
        .def_ro("bytes", &BranchingResult::bytes);
    m.def("branch_on_cycles", &branch, "candidates"_a, "rules"_a, "upper"_a, "steps"_a.none(), "memory"_a.none(),
          "limits"_a, "Breaks cycles, one at a time.");
    m.def("sample_orders", &sample, "candidates"_a, "orders"_a, "seed"_a, "climbs"_a, "limits"_a,
          "Cost and parents of the best network of random orders, climbed from if wanted; infinite cost: none.");
    m.def("sample_satisfying", &sample_under_rules, "candidates"_a, "rules"_a, "orders"_a, "climbs"_a, "seed"_a,
          "limits"_a,
          "Cost and parents of the best network of random orders, repaired to satisfy the rules; infinite cost: none "
          "found.");
    m.def(
        "finished_cases",
        [](const Candidates& candidates, const PyCaseRules& own) {
            return plain_cases(finished_cases(candidates, checked_rules(own, candidates)));
        },
        "candidates"_a, "rules"_a,
        "For each case in which nothing is left to break: by variable parents that must be, and not; other facts.");
}

}  // namespace topdag
