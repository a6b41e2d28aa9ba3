// branching.cpp: branch and bound over cycles, and networks of random orders.
#include "../core/branching.h"

#include "../core/order_climbing.h"
#include "binding.h"

namespace topdag {

namespace {

using NetworkOut = std::pair<double, std::vector<std::uint64_t>>;
using MarksOut = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

std::pair<BranchingResult, bool> branch(const Candidates& candidates, double upper, std::optional<std::uint64_t> steps,
                                        std::optional<std::size_t> memory, int threads,
                                        std::optional<double> seconds, nb::object on_tick) {
    require(!std::isnan(upper), "upper is not a number");
    require(threads >= 1, "at least one thread");
    const std::uint64_t most_steps = steps.value_or(~std::uint64_t{0});
    const BranchingQuestion question{upper, most_steps, memory.value_or(~std::size_t{0}), threads};
    bool interrupted = false;
    BranchingResult result = watched(
        watch_of(seconds, std::move(on_tick)),
        [&](Limits& limits) { return branch_on_cycles(candidates, question, limits); }, &interrupted);
    return {std::move(result), interrupted};
}

NetworkOut sample(const Candidates& candidates, std::int64_t orders, std::uint64_t seed, bool climbs,
                  std::optional<double> seconds, nb::object on_tick) {
    require(orders >= 0, "orders");
    const OrderedNetwork found = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
        OrderedNetwork best = sample_orders(candidates, orders, seed, limits);
        return climbs && best.cost < Candidates::no_family ? climb_from(candidates, best.order, limits) : best;
    });
    return {found.cost, found.parents};
}

std::vector<MarksOut> marks_of(const std::vector<Case>& cases) {
    std::vector<MarksOut> all;
    for (const Case& c : cases) {
        MarksOut marks;
        for (const Marks& own : c.of) marks.emplace_back(own.must, own.without);
        all.push_back(std::move(marks));
    }
    return all;
}

}  // namespace

void bind_branching(nb::module_& m) {
    nb::class_<BranchingResult>(m, "BranchingResult")
        .def_ro("finished", &BranchingResult::finished)
        .def_ro("cost", &BranchingResult::cost)
        .def_ro("bound", &BranchingResult::bound)
        .def_ro("parents", &BranchingResult::parents)
        .def_ro("steps", &BranchingResult::steps)
        .def_ro("made", &BranchingResult::made)
        .def_ro("networks", &BranchingResult::networks)
        .def_ro("bytes", &BranchingResult::bytes);
    m.def("branch_on_cycles", &branch, "candidates"_a, "upper"_a, "steps"_a.none(), "memory"_a.none(), "threads"_a,
          "seconds"_a.none(), "on_tick"_a.none(),
          "Breaks cycles, one at a time. The result, and whether Ctrl-C stopped it.");
    m.def("sample_orders", &sample, "candidates"_a, "orders"_a, "seed"_a, "climbs"_a, "seconds"_a.none() = nb::none(),
          "on_tick"_a.none() = nb::none(),
          "Cost and parents of the best network of random orders, climbed from if wanted; infinite cost: none.");
    m.def(
        "finished_cases", [](const Candidates& candidates) { return marks_of(finished_cases(candidates)); },
        "candidates"_a, "For each case in which nothing is left to break, by variable: parents that must be, and not.");
}

}  // namespace topdag
