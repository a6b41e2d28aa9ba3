// listing_classes.cpp: the equivalence class of a network, and how many orders agree with it.
#include "binding.h"

#include "listing/classes.h"
#include "listing/linear_extensions.h"

namespace topdag {

namespace {

std::vector<VarSet> checked_network(const std::vector<VarSet>& parents) {
    require(!parents.empty() && parents.size() <= 64, "1 to 64 variables");
    for (VarSet mask : parents) require(is_subset(mask, all_of(static_cast<int>(parents.size()))), "a parent out of range");
    return parents;
}

}  // namespace

void bind_classes(nb::module_& m) {
    nb::class_<MixedGraph>(m, "MixedGraph", "The edges of a class: compelled ones by parents, the others by neighbours.")
        .def("__init__",
             [](MixedGraph* self, const std::vector<VarSet>& parents, const std::vector<VarSet>& neighbours) {
                 require(parents.size() == neighbours.size(), "sizes differ");
                 new (self) MixedGraph{checked_network(parents), checked_network(neighbours)};
             },
             "parents"_a, "neighbours"_a)
        .def_ro("parents", &MixedGraph::parents)
        .def_ro("neighbours", &MixedGraph::neighbours);
    m.def("class_of", [](const std::vector<VarSet>& parents) { return class_of(checked_network(parents)); }, "parents"_a);
    m.def(
        "class_size",
        [](const MixedGraph& graph) { return give_count(class_size(graph)); }, "graph"_a,
        "How many networks the class has.");
    m.def(
        "linear_extensions",
        [](const std::vector<VarSet>& parents, std::size_t most_sets) -> std::optional<nb::int_> {
            const auto count = linear_extensions(checked_network(parents), most_sets);
            if (!count) return std::nullopt;
            return give_count(*count);
        },
        "parents"_a, "most_sets"_a, "How many orders agree with an acyclic network; None when it takes too many sets.");
    nb::class_<Members>(m, "Members", "The networks of a class, one by one.")
        .def(nb::init<MixedGraph>(), "graph"_a)
        .def("next", [](Members& members) -> std::optional<std::vector<VarSet>> {
            if (!members.next()) return std::nullopt;
            return members.parents;
        });
}

}  // namespace topdag
