// climbing.cpp: a good network straight from the data.
#include <variant>

#include "binding.h"

#include "bitset_arrays.h"
#include "climbing/data_climb.h"
#include "climbing/family_counts.h"
#include "pruning_checks.h"

namespace topdag {

namespace {

// What parents one variable may have, as numbers: how wide sets are is known with the table.
struct PyRules {
    nb::int_ must, may;
    int least, most;
    std::vector<nb::int_> among;
};

using AskedLocal = nb::typed<nb::callable, double(int, nb::int_)>;

// With the table that it looks into, or who is asked, kept alive.
struct PyClimb {
    nb::object asked;
    std::variant<DataClimb<WideSet>, DataClimb<VastSet>> climb;
};

template <class Set>
std::vector<Set> sets_of(const std::vector<nb::int_>& numbers, int n) {
    std::vector<Set> sets;
    for (const nb::int_& number : numbers) {
        sets.push_back(set_of_number<Set>(number));
        require(is_subset(sets.back(), all_of<Set>(n)), "no such variable");
    }
    return sets;
}

template <class Set>
DataClimb<Set> climb_on(std::unique_ptr<ScoreSource<Set>> families, int n, const std::vector<PyRules>& given,
                        const std::vector<nb::int_>& before, std::uint64_t seed) {
    require(static_cast<int>(given.size()) == n && static_cast<int>(before.size()) == n, "one a variable");
    std::vector<ParentRules<Set>> rules;
    for (int x = 0; x < n; ++x) {
        const PyRules& own = given[x];
        rules.push_back({set_of_number<Set>(own.must), set_of_number<Set>(own.may), own.least, own.most,
                         sets_of<Set>(own.among, n)});
        const Set others = all_of<Set>(n) & ~only<Set>(x);
        require(is_subset(rules[x].must, others) && is_subset(rules[x].may, others), "no such parent");
        for (const Set& parents : rules[x].among) require(is_subset(parents, others), "no such parent");
    }
    return DataClimb<Set>(std::move(families), std::move(rules), sets_of<Set>(before, n), seed);
}

template <class Set>
DataClimb<Set> climb_of(const Table& table, const PruningQuestion& question, const std::vector<PyRules>& rules,
                        const std::vector<nb::int_>& before, std::uint64_t seed) {
    check_question(table, question, most_variables<Set>);
    auto counts = std::make_unique<FamilyCounts<Set>>(table, question);
    return climb_on<Set>(std::move(counts), table.n_variables(), rules, before, seed);
}

template <class Set>
DataClimb<Set> climb_asking(const AskedLocal& local, double work, const std::vector<PyRules>& rules,
                            const std::vector<nb::int_>& before, std::uint64_t seed) {
    const auto ask = [local](int x, Set parents) {
        const nb::gil_scoped_acquire held;
        return nb::cast<double>(local(x, number_of(parents)));
    };
    auto asked = std::make_unique<AskedScores<Set>>(ask, work);
    return climb_on<Set>(std::move(asked), static_cast<int>(rules.size()), rules, before, seed);
}

}  // namespace

void bind_climbing(nb::module_& m) {
    nb::class_<PyRules>(m, "ParentRules", "What parents one variable may have; among: one of these, if there are any.")
        .def(
            "__init__",
            [](PyRules* self, const nb::int_& must, const nb::int_& may, int least, int most,
               const std::vector<nb::int_>& among) { new (self) PyRules{must, may, least, most, among}; },
            "must"_a, "may"_a, "least"_a, "most"_a, "among"_a);
    nb::class_<PyClimb>(m, "DataClimb", "A good network from the data, better the longer it goes on.")
        .def(
            "__init__",
            [](PyClimb* self, const nb::object& table, const PruningQuestion& question,
               const std::vector<PyRules>& rules, const std::vector<nb::int_>& before, std::uint64_t seed) {
                const Table& view = nb::cast<const PyTable&>(table).view;
                with_width<WideSet, VastSet>(view.n_variables(), [&]<class Set>() {
                    new (self) PyClimb{table, climb_of<Set>(view, question, rules, before, seed)};
                });
            },
            "table"_a, "question"_a, "rules"_a, "before"_a, "seed"_a)
        .def(
            "__init__",
            [](PyClimb* self, const AskedLocal& local, double work,
               const std::vector<PyRules>& rules, const std::vector<nb::int_>& before, std::uint64_t seed) {
                with_width<WideSet, VastSet>(rules.size(), [&]<class Set>() {
                    new (self) PyClimb{local, climb_asking<Set>(local, work, rules, before, seed)};
                });
            },
            "local"_a, "work"_a, "rules"_a, "before"_a, "seed"_a)
        .def(
            "go_on",
            [](PyClimb& self, double work) {
                const nb::gil_scoped_release release;
                std::visit([&](auto& climb) { climb.go_on(work); }, self.climb);
            },
            "work"_a)
        .def_prop_ro("score", 
            [](const PyClimb& self) { return std::visit([](const auto& climb) { return climb.best_score(); }, self.climb); },
            "Minus infinity: none yet.")
        .def_prop_ro("parents", 
            [](const PyClimb& self) {
                return std::visit([](const auto& climb) { return numbers_of(climb.best_parents()); }, self.climb);
            });
    m.def("climb_bytes", [](const PyTable& table) { return FamilyCounts<WideSet>::bytes(table.view); }, "table"_a);
}

}  // namespace topdag
