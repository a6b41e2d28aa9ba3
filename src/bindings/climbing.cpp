// climbing.cpp: a good network straight from the data.
#include "binding.h"

#include "bitset_arrays.h"
#include "climbing/data_climb.h"
#include "climbing/family_counts.h"
#include "pruning_checks.h"

namespace topdag {

namespace {

// With the table that it looks into, or who is asked, kept alive.
struct PyClimb {
    nb::object asked;
    DataClimb climb;
};

std::vector<WideSet> sets_of(const std::vector<nb::int_>& numbers, int n) {
    std::vector<WideSet> sets;
    for (const nb::int_& number : numbers) {
        sets.push_back(SetArrays<WideSet>::set_of(number));
        require(is_subset(sets.back(), all_of<WideSet>(n)), "no such variable");
    }
    return sets;
}

DataClimb climb_on(std::unique_ptr<ScoreSource> families, int n, const std::vector<ParentRules>& rules,
                   const std::vector<nb::int_>& before, std::uint64_t seed) {
    require(static_cast<int>(rules.size()) == n && static_cast<int>(before.size()) == n, "one a variable");
    for (int x = 0; x < n; ++x) {
        const WideSet others = all_of<WideSet>(n) & ~only<WideSet>(x);
        require(is_subset(rules[x].must, others) && is_subset(rules[x].may, others), "no such parent");
        for (const WideSet parents : rules[x].among) require(is_subset(parents, others), "no such parent");
    }
    return DataClimb(std::move(families), rules, sets_of(before, n), seed);
}

}  // namespace

void bind_climbing(nb::module_& m) {
    nb::class_<ParentRules>(m, "ParentRules", "What parents one variable may have; among: one of these, if there are any.")
        .def(
            "__init__",
            [](ParentRules* self, const nb::int_& must, const nb::int_& may, int least, int most,
               const std::vector<nb::int_>& among) {
                new (self) ParentRules{SetArrays<WideSet>::set_of(must), SetArrays<WideSet>::set_of(may), least, most,
                                       sets_of(among, 128)};
            },
            "must"_a, "may"_a, "least"_a, "most"_a, "among"_a);
    nb::class_<PyClimb>(m, "DataClimb", "A good network from the data, better the longer it goes on.")
        .def(
            "__init__",
            [](PyClimb* self, const nb::object& table, const PruningQuestion& question,
               const std::vector<ParentRules>& rules, const std::vector<nb::int_>& before, std::uint64_t seed) {
                const Table& view = nb::cast<const PyTable&>(table).view;
                check_question(view, question, 128);
                auto counts = std::make_unique<FamilyCounts>(view, question);
                new (self) PyClimb{table, climb_on(std::move(counts), view.n_variables(), rules, before, seed)};
            },
            "table"_a, "question"_a, "rules"_a, "before"_a, "seed"_a)
        .def(
            "__init__",
            [](PyClimb* self, const nb::typed<nb::callable, double(int, nb::int_)>& local, double work,
               const std::vector<ParentRules>& rules, const std::vector<nb::int_>& before, std::uint64_t seed) {
                const auto ask = [local](int x, WideSet parents) {
                    const nb::gil_scoped_acquire held;
                    return nb::cast<double>(local(x, SetArrays<WideSet>::number(parents)));
                };
                auto asked = std::make_unique<AskedScores>(ask, work);
                const int n = static_cast<int>(rules.size());
                new (self) PyClimb{local, climb_on(std::move(asked), n, rules, before, seed)};
            },
            "local"_a, "work"_a, "rules"_a, "before"_a, "seed"_a)
        .def(
            "go_on",
            [](PyClimb& self, double work) {
                const nb::gil_scoped_release release;
                self.climb.go_on(work);
            },
            "work"_a)
        .def_prop_ro("score", [](const PyClimb& self) { return self.climb.best_score(); }, "Minus infinity: none yet.")
        .def_prop_ro("parents", [](const PyClimb& self) { return numbers_of(self.climb.best_parents()); });
    m.def("climb_bytes", [](const PyTable& table) { return FamilyCounts::bytes(table.view); }, "table"_a);
}

}  // namespace topdag
