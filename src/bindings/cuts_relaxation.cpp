// cuts_relaxation.cpp: cluster cuts, bounds of multipliers and local search over orders.
#include "binding.h"
#include "bitset_arrays.h"
#include "cuts/clusters.h"
#include "cuts/cut_pool.h"
#include "cuts/order_climbing.h"

namespace topdag {

namespace {

using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FlagsInOut = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Whole = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WholeOut = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using SizesOut = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
template <class Set>
using SetsIn = typename SetArrays<Set>::In;
template <class Set>
using Number = typename SetArrays<Set>::Number;
template <class Set>
using ClustersOut = std::pair<typename SetArrays<Set>::Out, SizesOut>;
template <class Set>
using NetworkOut = std::pair<double, std::vector<Number<Set>>>;

template <class Array>
auto span_of(const Array& array) {
    return std::span(array.data(), array.shape(0));
}

// Families by variable, checked once so that the core may trust them.
template <class Set>
struct PyFamilies {
    Offsets offsets;
    std::vector<Set> parents;

    PyFamilies(Offsets offsets_in, SetsIn<Set> parents_in)
        : offsets(std::move(offsets_in)), parents(sets_from<Set>(parents_in)) {
        check_families(static_cast<int>(offsets.shape(0)) - 1, offsets, parents);
    }

    FamilyViewOf<Set> view() const { return {span_of(offsets), std::span<const Set>(parents)}; }
    std::size_t size() const { return parents.size(); }
};

template <class Set>
std::vector<ClusterOf<Set>> checked_clusters(const PyFamilies<Set>& families, const SetsIn<Set>& members, const Whole& ks) {
    require(SetArrays<Set>::n_sets(members) == ks.shape(0), "sizes differ");
    const Set all = all_of<Set>(families.view().n_variables());
    std::vector<ClusterOf<Set>> clusters;
    for (std::size_t c = 0; c < ks.shape(0); ++c) {
        const Set own = SetArrays<Set>::at(members, c);
        require(is_subset(own, all) && ks.data()[c] >= 1 && ks.data()[c] <= size_of(own), "a cluster out of range");
        clusters.push_back({own, static_cast<int>(ks.data()[c])});
    }
    return clusters;
}

template <class Set>
ClustersOut<Set> give_clusters(const std::vector<ClusterOf<Set>>& clusters, int n) {
    std::vector<Set> members;
    std::vector<std::int64_t> ks;
    for (const ClusterOf<Set>& cluster : clusters) {
        members.push_back(cluster.members);
        ks.push_back(cluster.k);
    }
    return {SetArrays<Set>::give(std::move(members), n), give(std::move(ks))};
}

template <class Set>
SupportOf<Set> checked_support(const PyFamilies<Set>& families, const DoublesIn& weights) {
    require(weights.shape(0) == families.size(), "sizes differ");
    return support_of(families.view(), span_of(weights));
}

template <class Set>
ClustersOut<Set> separate(const PyFamilies<Set>& families, const DoublesIn& weights, int most_k, std::size_t most_cuts,
                     double least_violation, std::size_t most_steps) {
    const SupportOf<Set> support = checked_support(families, weights);
    const SeparationOptions options{most_cuts, least_violation, most_k, most_steps};
    nb::gil_scoped_release released;
    std::vector<ClusterOf<Set>> found = grow_clusters(support, options);
    Limits limits;
    for (int k = 1; k <= most_k && found.empty() && most_steps > 0; ++k)
        found = search_clusters(support, k, options, limits).found;
    nb::gil_scoped_acquire acquired;
    return give_clusters(found, families.view().n_variables());
}

// Cuts with the families they are for kept alive.
template <class Set>
struct PyCuts {
    nb::object kept;
    const PyFamilies<Set>& families;
    CutPoolOf<Set> pool;

    explicit PyCuts(nb::object owner)
        : kept(std::move(owner)), families(nb::cast<const PyFamilies<Set>&>(kept)), pool(families.view()) {}
};

// Entries of cuts from `first` on, for families marked and for the further family of each variable.
template <class Set>
std::tuple<WholeOut, WholeOut, DoublesOut> entries(const PyCuts<Set>& cuts, std::size_t first, const Flags& marks) {
    require(marks.shape(0) == cuts.families.size() + static_cast<std::size_t>(cuts.families.view().n_variables()),
            "sizes differ");
    std::vector<std::int32_t> rows, columns;
    std::vector<double> values;
    for (std::size_t c = first; c < cuts.pool.size(); ++c)
        for (const Entry& entry : cuts.pool.row(c))
            if (marks.data()[entry.family]) {
                rows.push_back(static_cast<std::int32_t>(c));
                columns.push_back(entry.family);
                values.push_back(entry.coefficient);
            }
    return {give(std::move(rows)),
            give(std::move(columns)),
            give(std::move(values))};
}

template <class Set>
std::pair<double, DoublesOut> bound_of(const PyCuts<Set>& cuts, const DoublesIn& costs, const Flags& allowed,
                                       const DoublesIn& multipliers) {
    require(costs.shape(0) == cuts.families.size() && allowed.shape(0) == cuts.families.size(), "sizes differ");
    require(multipliers.shape(0) == cuts.pool.size(), "sizes differ");
    ReducedCosts result = cuts.pool.reduced_costs(span_of(costs), span_of(allowed), span_of(multipliers));
    return {result.bound, give(std::move(result.excess))};
}

template <class Set>
std::size_t add_halves(PyCuts<Set>& cuts, const DoublesIn& weights, std::size_t most_cuts, double least_violation) {
    require(weights.shape(0) == cuts.families.size(), "sizes differ");
    nb::gil_scoped_release released;
    std::vector<CutOf<Set>> found = cuts.pool.violated_halves(span_of(weights), most_cuts, least_violation);
    for (CutOf<Set>& cut : found) cuts.pool.add(std::move(cut));
    return found.size();
}

template <class Set>
std::size_t add_local(PyCuts<Set>& cuts, const DoublesIn& weights, int most_members, std::size_t most_cuts,
                      double least_violation) {
    const SupportOf<Set> support = checked_support(cuts.families, weights);
    nb::gil_scoped_release released;
    LocalCutOptions options;
    options.most_members = most_members;
    options.most_cuts = most_cuts;
    options.least_violation = least_violation;
    std::vector<LocalCutOf<Set>> found = local_cuts(support, options);
    for (LocalCutOf<Set>& cut : found) cuts.pool.add({{}, 0, std::move(cut)});
    return found.size();
}

template <class Set>
DoublesOut limits_of(const PyCuts<Set>& cuts) {
    std::vector<double> limits;
    for (std::size_t c = 0; c < cuts.pool.size(); ++c) limits.push_back(cuts.pool.cut(c).limit());
    return give(std::move(limits));
}

template <class Set>
using PlainCut = std::pair<std::vector<std::pair<Number<Set>, int>>, Number<Set>>;

template <class Set>
PlainCut<Set> plain_cut(const PyCuts<Set>& cuts, std::size_t c) {
    require(c < cuts.pool.size(), "no such cut");
    PlainCut<Set> plain{{}, SetArrays<Set>::number(cuts.pool.cut(c).variables)};
    for (const ClusterOf<Set>& cluster : cuts.pool.cut(c).clusters)
        plain.first.push_back({SetArrays<Set>::number(cluster.members), cluster.k});
    return plain;
}

template <class Set>
NetworkOut<Set> give_network(const OrderedNetworkOf<Set>& network) { return {network.cost, numbers_of(network.parents)}; }

template <class Set>
void bind_relaxation_of(nb::module_& m, const char* families_name, const char* cuts_name) {
    nb::class_<PyFamilies<Set>>(m, families_name, "Families of each variable, for cluster cuts.")
        .def(nb::init<Offsets, SetsIn<Set>>(), "offsets"_a, "parents"_a)
        .def("separate", &separate<Set>, "weights"_a, "most_k"_a, "most_cuts"_a, "least_violation"_a, "most_steps"_a,
             "Clusters (members, k) that these weights violate: grown, and searched for when none was grown.")
        .def(
            "propagate",
            [](const PyFamilies<Set>& families, FlagsInOut allowed) {
                require(allowed.shape(0) == families.size(), "sizes differ");
                return propagate_orders(families.view(), span_of(allowed));
            },
            "allowed"_a, "Forbids, in place, families at odds with orders that all others force; False: no network.");
    nb::class_<PyCuts<Set>>(m, cuts_name, "Cuts of a linear program over families.")
        .def(nb::init<nb::object>(), "families"_a)
        .def("__len__", [](const PyCuts<Set>& cuts) { return cuts.pool.size(); })
        .def("limits", &limits_of<Set>, "What the coefficients of a network's families add up to at least, for each cut.")
        .def("__getitem__", &plain_cut<Set>, "cut"_a, "Its clusters (members, k), and the variables counted once more.")
        .def(
            "add_clusters",
            [](PyCuts<Set>& cuts, const SetsIn<Set>& members, const Whole& ks) {
                for (const ClusterOf<Set>& cluster : checked_clusters(cuts.families, members, ks))
                    cuts.pool.add({{cluster}, 0, {}});
            },
            "members"_a, "ks"_a)
        .def(
            "add_clause",
            [](PyCuts<Set>& cuts, const Flags& marks) {
                require(marks.shape(0) == cuts.families.size(), "sizes differ");
                cuts.pool.add_clause(span_of(marks));
            },
            "marks"_a, "Every network that is asked for has one of the marked families.")
        .def("add_halves", &add_halves<Set>, "weights"_a, "most_cuts"_a, "least_violation"_a,
             "Adds halved sums of tight clusters that these weights violate; how many.")
        .def("add_local", &add_local<Set>, "weights"_a, "most_members"_a, "most_cuts"_a, "least_violation"_a,
             "Adds cuts from networks of few variables that these weights violate; how many.")
        .def(
            "keep",
            [](PyCuts<Set>& cuts, const Flags& kept) {
                require(kept.shape(0) == cuts.pool.size(), "sizes differ");
                cuts.pool.keep(span_of(kept));
            },
            "kept"_a)
        .def("entries", &entries<Set>, "first"_a, "marks"_a, "Cut, family and coefficient, for marked families.")
        .def("bound", &bound_of<Set>, "costs"_a, "allowed"_a, "multipliers"_a,
             "The bound of these multipliers on networks of allowed families, and each family's excess over it.");
    m.def("undominated", &undominated<Set>, "candidates"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Without families that cost as much as another with some of their parents.");
    m.def(
        "climb_orders",
        [](const CandidatesOf<Set>& candidates, std::int64_t climbs, std::uint64_t seed, const Watch& watch) {
            require(climbs >= 0, "climbs");
            return give_network(watched(watch, [&](Limits& limits) {
                return climb_orders(candidates, climbs, seed, limits);
            }));
        },
        "candidates"_a, "climbs"_a, "seed"_a, "limits"_a,
        "Cost and parents of the best network found by local search over orders; infinite cost: none.");
    m.def(
        "climb_from_weights",
        [](const CandidatesOf<Set>& candidates, const PyFamilies<Set>& families, const DoublesIn& weights) {
            require(candidates.n_variables() == families.view().n_variables(), "sizes differ");
            const SupportOf<Set> support = checked_support(families, weights);
            nb::gil_scoped_release released;
            Limits limits;
            const OrderedNetworkOf<Set> network = climb_from(candidates, order_of_weights(candidates, support), limits);
            nb::gil_scoped_acquire acquired;
            return give_network(network);
        },
        "candidates"_a, "families"_a, "weights"_a, "The local optimum from an order that fits these weights.");
}

}  // namespace

void bind_relaxation(nb::module_& m) {
    bind_relaxation_of<VarSet>(m, "ClusterFamilies", "Cuts");
    bind_relaxation_of<WideSet>(m, "ClusterFamilies128", "Cuts128");
    bind_relaxation_of<BroadSet>(m, "ClusterFamilies512", "Cuts512");
    bind_relaxation_of<VastSet>(m, "ClusterFamilies2048", "Cuts2048");
}

}  // namespace topdag
