// relaxation.cpp: cluster cuts, bounds of multipliers and local search over orders.
#include "../core/clusters.h"
#include "../core/order_climbing.h"
#include "binding.h"

namespace topdag {

namespace {

using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FlagsInOut = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Whole = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WholeOut = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using SizesOut = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using ClustersOut = std::pair<MasksOut, SizesOut>;
using NetworkOut = std::pair<double, std::vector<std::uint64_t>>;

template <class Array>
auto span_of(const Array& array) {
    return std::span(array.data(), array.shape(0));
}

// Families by variable, checked once so that the core may trust them.
struct PyFamilies {
    Offsets offsets;
    Masks parents;

    PyFamilies(Offsets offsets_in, Masks parents_in) : offsets(std::move(offsets_in)), parents(std::move(parents_in)) {
        require(offsets.shape(0) >= 2 && offsets.shape(0) <= 65, "1 to 64 variables");
        const std::size_t n = offsets.shape(0) - 1;
        const std::int64_t* at = offsets.data();
        require(at[0] == 0 && at[n] == static_cast<std::int64_t>(parents.shape(0)), "offsets");
        for (std::size_t v = 0; v < n; ++v) {
            require(at[v] <= at[v + 1], "offsets");
            for (std::int64_t i = at[v]; i < at[v + 1]; ++i)
                require(is_subset(parents.data()[i], all_of(static_cast<int>(n)) & ~only(static_cast<int>(v))),
                        "a family out of range");
        }
    }

    FamilyView view() const { return {span_of(offsets), span_of(parents), {}}; }
    std::size_t size() const { return parents.shape(0); }
};

std::vector<Cluster> checked_clusters(const PyFamilies& families, const Masks& members, const Whole& ks) {
    require(members.shape(0) == ks.shape(0), "sizes differ");
    const VarSet all = all_of(families.view().n_variables());
    std::vector<Cluster> clusters;
    for (std::size_t c = 0; c < members.shape(0); ++c) {
        require(is_subset(members.data()[c], all) && ks.data()[c] >= 1 && ks.data()[c] <= size_of(members.data()[c]),
                "a cluster out of range");
        clusters.push_back({members.data()[c], static_cast<int>(ks.data()[c])});
    }
    return clusters;
}

ClustersOut give_clusters(const std::vector<Cluster>& clusters) {
    std::vector<std::uint64_t> members;
    std::vector<std::int64_t> ks;
    for (const Cluster& cluster : clusters) {
        members.push_back(cluster.members);
        ks.push_back(cluster.k);
    }
    return {give_vector<std::uint64_t, MasksOut>(std::move(members)), give_vector<std::int64_t, SizesOut>(std::move(ks))};
}

Support checked_support(const PyFamilies& families, const DoublesIn& weights) {
    require(weights.shape(0) == families.size(), "sizes differ");
    return support_of(families.view(), span_of(weights));
}

ClustersOut separate(const PyFamilies& families, const DoublesIn& weights, int most_k, std::size_t most_cuts,
                     double least_violation, std::size_t most_steps) {
    const Support support = checked_support(families, weights);
    const SeparationOptions options{most_cuts, least_violation, most_k, most_steps};
    nb::gil_scoped_release released;
    std::vector<Cluster> found = grow_clusters(support, options);
    Limits limits;
    for (int k = 1; k <= most_k && found.empty() && most_steps > 0; ++k)
        found = search_clusters(support, k, options, limits).found;
    nb::gil_scoped_acquire acquired;
    return give_clusters(found);
}

NetworkOut give_network(const OrderedNetwork& network) { return {network.cost, network.parents}; }

}  // namespace

void bind_relaxation(nb::module_& m) {
    nb::class_<PyFamilies>(m, "ClusterFamilies", "Families of each variable, for cluster cuts.")
        .def(nb::init<Offsets, Masks>(), "offsets"_a, "parents"_a)
        .def("separate", &separate, "weights"_a, "most_k"_a, "most_cuts"_a, "least_violation"_a, "most_steps"_a,
             "Clusters (members, k) that these weights violate: grown, and searched for when none was grown.")
        .def(
            "cluster_weights",
            [](const PyFamilies& families, const DoublesIn& weights, const Masks& members, const Whole& ks) {
                const Support support = checked_support(families, weights);
                std::vector<double> found;
                for (const Cluster& cluster : checked_clusters(families, members, ks))
                    found.push_back(cluster_weight(cluster, support));
                return give_vector<double, DoublesOut>(std::move(found));
            },
            "weights"_a, "members"_a, "ks"_a, "What the families that count for each cluster weigh together.")
        .def(
            "rows",
            [](const PyFamilies& families, const Masks& members, const Whole& ks) {
                Rows rows = cluster_rows(families.view(), checked_clusters(families, members, ks));
                return std::make_pair(give_vector<std::int32_t, WholeOut>(std::move(rows.starts)),
                                      give_vector<std::int32_t, WholeOut>(std::move(rows.families)));
            },
            "members"_a, "ks"_a, "Where the families that count for each cluster begin, and which they are.")
        .def(
            "reduced_costs",
            [](const PyFamilies& families, const DoublesIn& costs, const Flags& allowed, const Masks& members,
               const Whole& ks, const DoublesIn& multipliers) {
                require(costs.shape(0) == families.size() && allowed.shape(0) == families.size(), "sizes differ");
                require(multipliers.shape(0) == members.shape(0), "sizes differ");
                FamilyView view = families.view();
                view.allowed = span_of(allowed);
                const std::vector<Cluster> clusters = checked_clusters(families, members, ks);
                ReducedCosts result = reduced_costs(view, span_of(costs), clusters, span_of(multipliers));
                return std::make_pair(result.bound, give_vector<double, DoublesOut>(std::move(result.excess)));
            },
            "costs"_a, "allowed"_a, "members"_a, "ks"_a, "multipliers"_a,
            "The bound of these multipliers on networks of allowed families, and each family's excess over it.")
        .def(
            "propagate",
            [](const PyFamilies& families, FlagsInOut allowed) {
                require(allowed.shape(0) == families.size(), "sizes differ");
                return propagate_orders(families.view(), span_of(allowed));
            },
            "allowed"_a, "Forbids, in place, families at odds with orders that all others force; False: no network.");
    m.def(
        "climb_orders",
        [](const Candidates& candidates, std::int64_t climbs, std::uint64_t seed, std::optional<double> seconds,
           nb::object on_tick) {
            require(climbs >= 0, "climbs");
            return give_network(watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                return climb_orders(candidates, climbs, seed, limits);
            }));
        },
        "candidates"_a, "climbs"_a, "seed"_a, "seconds"_a.none() = nb::none(), "on_tick"_a.none() = nb::none(),
        "Cost and parents of the best network found by local search over orders; infinite cost: none.");
    m.def(
        "climb_from_weights",
        [](const Candidates& candidates, const PyFamilies& families, const DoublesIn& weights) {
            require(candidates.n_variables() == families.view().n_variables(), "sizes differ");
            const Support support = checked_support(families, weights);
            nb::gil_scoped_release released;
            Limits limits;
            const OrderedNetwork network = climb_from(candidates, order_of_weights(candidates, support), limits);
            nb::gil_scoped_acquire acquired;
            return give_network(network);
        },
        "candidates"_a, "families"_a, "weights"_a, "The local optimum from an order that fits these weights.");
}

}  // namespace topdag
