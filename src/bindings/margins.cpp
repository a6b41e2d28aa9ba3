// margins.cpp: counts of small sets of variables, added up over parts of the rows.
#include "binding.h"

#include <numeric>

#include "margins/margins.h"
#include "pruning_checks.h"

namespace topdag {

namespace {

// Some rows of a table, checked once so that the core may trust them; without weights each counts once.
Table rows_of(const Codes& codes, const std::vector<int>& arities, const std::optional<Weights>& weights) {
    Table rows;
    rows.arities = arities;
    rows.n_distinct = codes.shape(1);
    require(codes.shape(0) == arities.size(), "a row of codes for each variable");
    for (std::size_t v = 0; v < arities.size(); ++v) {
        rows.columns.push_back(codes.data() + v * rows.n_distinct);
        for (std::size_t row = 0; row < rows.n_distinct; ++row)
            require(rows.columns[v][row] < arities[v], "a code is not below its arity");
    }
    rows.n_rows = rows.n_distinct;
    if (weights) {
        require(weights->shape(0) == rows.n_distinct, "weights must fit the codes");
        rows.weights = weights->data();
        rows.n_rows = std::accumulate(rows.weights, rows.weights + rows.n_distinct, std::uint64_t{0});
    }
    return rows;
}

Margins made(const std::vector<int>& arities, int most_variables, double bytes) {
    require(!arities.empty() && most_variables >= 1, "a margin needs a variable");
    for (int arity : arities) require(arity >= 1 && arity <= 0xffff, "an arity out of range");
    return Margins(arities, most_variables, bytes);
}

bool add(Margins& margins, const Codes& codes, const std::optional<Weights>& weights, const Watch& watch) {
    const Table rows = rows_of(codes, margins.arities(), weights);
    require(margins.n_rows() + rows.n_rows <= 0xffffffffULL, "more than 4,294,967,295 rows");
    require(margins.most_cells() <= 0xffffffffULL, "more than 4,294,967,295 cells");
    return watched(watch, [&](Limits& limits) { return margins.add(rows, 0, limits); });
}

auto counts(const Margins& margins, const std::vector<int>& variables) {
    require(margins.n_rows() > 0, "no rows were counted");
    require(static_cast<int>(variables.size()) <= margins.most_variables(), "more variables than were counted together");
    for (int v : variables) require(v >= 0 && v < margins.n_variables(), "no such variable");
    Margins::Counts found;
    margins.count(variables, found);
    return std::make_pair(found.variables, give(std::vector<std::uint32_t>(found.counts.begin(), found.counts.end())));
}

auto sums(const Margins& margins, int kind, double parameter, bool spread, int bits, const Masks& sets_in, const Watch& watch) {
    require(margins.n_rows() > 0, "no rows were counted");
    const FixedFunction function = checked_function(kind, parameter, spread, bits);
    const std::vector<VarSet> sets(sets_in.data(), sets_in.data() + sets_in.shape(0));
    for (VarSet set : sets)
        require(is_subset(set, all_of<VarSet>(margins.n_variables())) && size_of(set) <= margins.most_variables(),
                "more variables than were counted together");
    std::vector<std::int64_t> sums;
    const bool finished = watched(watch, [&](Limits& limits) { return margins.sums(function, sets, limits, sums); });
    return finished ? std::make_optional(give(std::move(sums))) : std::nullopt;
}

}  // namespace

void bind_margins(nb::module_& m) {
    nb::class_<Margins>(m, "Margins", "Counts of the cells of all small sets of variables, added up over parts of the rows.")
        .def("__init__", [](Margins* self, const std::vector<int>& arities, int most_variables, double bytes) {
            new (self) Margins(made(arities, most_variables, bytes));
        }, "arities"_a, "most_variables"_a, "bytes"_a)
        .def_prop_ro("most_variables", &Margins::most_variables)
        .def_prop_ro("n_rows", &Margins::n_rows)
        .def_prop_ro("n_tables", &Margins::n_tables)
        .def_prop_ro("most_cells", &Margins::most_cells)
        .def_prop_ro("bytes", &Margins::bytes)
        .def("add", &add, "codes"_a, "weights"_a.none(), "limits"_a, "Counts further rows. False when stopped.")
        .def("counts", &counts, "variables"_a, "The variables in an order of their own, and the counts of their cells.")
        .def("sums", &sums, "kind"_a, "parameter"_a, "spread"_a, "bits"_a, "sets"_a, "limits"_a,
             "As those of SetCounter. None when stopped.");
}

}  // namespace topdag
