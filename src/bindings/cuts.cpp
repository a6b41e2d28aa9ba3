// cuts.cpp: cluster cuts, bounds of multipliers, local search over orders, and flow along paths.
#include "binding.h"
#include "bitset_arrays.h"
#include "candidates.h"
#include "cuts/cluster_ascent.h"
#include "cuts/clusters.h"
#include "cuts/cut_pool.h"
#include "cuts/order_climbing.h"
#include "cuts/path_flow.h"
#include "packed_cuts.h"

namespace topdag {

namespace {

using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FlagsInOut = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Whole = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WholeOut = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using SizesOut = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using ClustersOut = std::pair<SetsOut, SizesOut>;
using NetworkOut = std::pair<double, std::vector<nb::int_>>;

template <class Array>
auto span_of(const Array& array) {
    return std::span(array.data(), array.shape(0));
}

ListedFamilies checked_families(const Offsets& offsets, const SetsIn& parents) {
    require(offsets.shape(0) <= std::numeric_limits<std::uint16_t>::max(), "too many variables");
    check_families(static_cast<int>(offsets.shape(0)) - 1, offsets, parents);
    const std::span<const std::int64_t> given = span_of(offsets);
    return {{given.begin(), given.end()}, parents.data(), static_cast<int>(words_each(parents))};
}

Variables members_in(const std::uint64_t* words, std::size_t n_words, int n) {
    Variables members;
    for (std::size_t w = 0; w < n_words; ++w)
        for (VarSet rest = words[w]; rest != 0; rest &= rest - 1)
            members.push_back(static_cast<int>(64 * w) + first_of(rest));
    require(members.empty() || members.back() < n, "no such variable");
    return members;
}

Words words_of(const Variables& members, int n) {
    Words words(static_cast<std::size_t>(words_for(n)), 0);
    for (const int v : members) words[v / 64] |= only(v % 64);
    return words;
}

std::vector<Cluster> checked_clusters(const ListedFamilies& families, const SetsIn& members, const Whole& ks) {
    require(members.shape(0) == ks.shape(0), "sizes differ");
    const std::size_t words = words_each(members);
    std::vector<Cluster> clusters;
    for (std::size_t c = 0; c < ks.shape(0); ++c) {
        Variables own = members_in(members.data() + c * words, words, families.n_variables());
        require(ks.data()[c] >= 1 && ks.data()[c] <= static_cast<std::int64_t>(own.size()), "a cluster out of range");
        clusters.push_back({std::move(own), static_cast<int>(ks.data()[c])});
    }
    return clusters;
}

ClustersOut give_clusters(const std::vector<Cluster>& clusters, int n) {
    Words members;
    std::vector<std::int64_t> ks;
    for (const Cluster& cluster : clusters) {
        const Words own = words_of(cluster.members, n);
        members.insert(members.end(), own.begin(), own.end());
        ks.push_back(cluster.k);
    }
    return {give_words(std::move(members), n), give(std::move(ks))};
}

Support checked_support(const ListedFamilies& families, const DoublesIn& weights) {
    require(weights.shape(0) == families.size(), "sizes differ");
    return support_of(families, span_of(weights));
}

ClustersOut separate(const ListedFamilies& families, const DoublesIn& weights, int most_k, std::size_t most_cuts,
                     double least_violation, std::size_t most_steps, int threads) {
    require(most_k >= 0 && threads >= 1, "most_k and threads");
    const Support support = checked_support(families, weights);
    const SeparationOptions options{most_cuts, least_violation, most_k, most_steps};
    nb::gil_scoped_release released;
    std::vector<Cluster> found = grow_clusters(support, options, threads);
    for (int k = 1; k <= most_k && found.empty() && most_steps > 0; ++k) found = search_clusters(support, k, options);
    nb::gil_scoped_acquire acquired;
    return give_clusters(found, families.n_variables());
}

// Cuts with the families they are for kept alive.
struct PyCuts {
    nb::object kept;
    const ListedFamilies& families;
    CutPool pool;

    PyCuts(nb::object owner, bool keeps_rows)
        : kept(std::move(owner)), families(nb::cast<const ListedFamilies&>(kept)), pool(families, keeps_rows) {}
};

// The cuts of a pool, to have them back later: shared with it, and the families they are for kept alive; or packed,
// as they came from another process.
struct PyCutList {
    nb::object families;
    SharedCuts cuts;
    PackedCuts packed;

    std::size_t size() const { return families.is_valid() ? cuts.size() : packed.size(); }
};

PackedCuts packed_cuts(const PyCutList& listed) {
    if (!listed.families.is_valid()) return listed.packed;
    CutPacker packer;
    for (const auto& pooled : listed.cuts) packer.add(pooled->cut);
    return std::move(packer).packed();
}

nb::bytes bytes_of(const PyCutList& listed) {
    const PackedCuts packed = packed_cuts(listed);
    return nb::bytes(packed.numbers().data(), packed.numbers().size_bytes());
}

void replace_cuts(PyCuts& cuts, const PyCutList& listed) {
    if (listed.families.is(cuts.kept)) {
        cuts.pool.replace(listed.cuts);
        return;
    }
    const PackedCuts packed = packed_cuts(listed);  // coefficients are made anew
    cuts.pool.replace({});
    CutUnpacker unpacker(packed.numbers(), cuts.families.n_variables());
    for (std::size_t left = packed.size(); left > 0; --left) cuts.pool.add(unpacker.cut());
}

// Entries of cuts from `first` on, for families marked and for the further family of each variable.
std::tuple<WholeOut, WholeOut, DoublesOut> entries(const PyCuts& cuts, std::size_t first, const Flags& marks) {
    require(marks.shape(0) == cuts.families.size() + static_cast<std::size_t>(cuts.families.n_variables()),
            "sizes differ");
    std::vector<std::int32_t> rows, columns;
    std::vector<double> values;
    cuts.pool.visit_marked(first, span_of(marks), [&](std::size_t c, const Entry& entry) {
        rows.push_back(static_cast<std::int32_t>(c));
        columns.push_back(entry.family);
        values.push_back(entry.coefficient);
    });
    return {give(std::move(rows)),
            give(std::move(columns)),
            give(std::move(values))};
}

std::pair<double, DoublesOut> bound_of(const PyCuts& cuts, const DoublesIn& costs, const Flags& allowed,
                                       const DoublesIn& multipliers) {
    require(costs.shape(0) == cuts.families.size() && allowed.shape(0) == cuts.families.size(), "sizes differ");
    require(multipliers.shape(0) == cuts.pool.size(), "sizes differ");
    ReducedCosts result = cuts.pool.reduced_costs(span_of(costs), span_of(allowed), span_of(multipliers));
    return {result.bound, give(std::move(result.excess))};
}

std::pair<double, DoublesOut> costs_under(const ListedFamilies& families, const SetsIn& members, const Whole& ks,
                                          const DoublesIn& costs, const Flags& allowed, const DoublesIn& multipliers,
                                          int threads) {
    require(costs.shape(0) == families.size() && allowed.shape(0) == families.size(), "sizes differ");
    const std::vector<Cluster> clusters = checked_clusters(families, members, ks);
    require(multipliers.shape(0) == clusters.size(), "sizes differ");
    nb::gil_scoped_release released;
    std::vector<double> paid(costs.data(), costs.data() + costs.shape(0));
    const long double given_back = pay_clusters(families, clusters, span_of(multipliers), paid, threads);
    ReducedCosts result = above_cheapest(families, span_of(allowed), std::move(paid), given_back);
    nb::gil_scoped_acquire acquired;
    return {result.bound, give(std::move(result.excess))};
}

std::pair<DoublesOut, DoublesOut> ascended(const ListedFamilies& families, const SetsIn& members, const Whole& ks,
                                           const DoublesIn& excess, const Flags& looked_at,
                                           const DoublesIn& multipliers, double temperature, int sweeps, int threads) {
    require(excess.shape(0) == families.size() && looked_at.shape(0) == families.size(), "sizes differ");
    require(temperature > 0 && threads >= 1, "temperature and threads");
    const std::vector<Cluster> clusters = checked_clusters(families, members, ks);
    require(multipliers.shape(0) == clusters.size(), "sizes differ");
    nb::gil_scoped_release released;
    Ascended result = ascend(families, clusters, span_of(excess), span_of(looked_at), span_of(multipliers),
                             {temperature, sweeps, threads});
    nb::gil_scoped_acquire acquired;
    return {give(std::move(result.multipliers)), give(std::move(result.weights))};
}

std::size_t add_halves(PyCuts& cuts, const DoublesIn& weights, std::size_t most_cuts, double least_violation) {
    require(weights.shape(0) == cuts.families.size(), "sizes differ");
    nb::gil_scoped_release released;
    std::vector<Cut> found = cuts.pool.violated_halves(span_of(weights), most_cuts, least_violation);
    for (Cut& cut : found) cuts.pool.add(std::move(cut));
    return found.size();
}

std::size_t add_local(PyCuts& cuts, const DoublesIn& weights, int most_members, std::size_t most_cuts,
                      double least_violation) {
    const Support support = checked_support(cuts.families, weights);
    nb::gil_scoped_release released;
    std::vector<LocalCut> found = local_cuts(support, {most_members, most_cuts, least_violation});
    for (LocalCut& cut : found) cuts.pool.add({{}, {}, std::move(cut)});
    return found.size();
}

DoublesOut limits_of(const PyCuts& cuts) {
    std::vector<double> limits;
    for (std::size_t c = 0; c < cuts.pool.size(); ++c) limits.push_back(cuts.pool.cut(c).limit());
    return give(std::move(limits));
}

using PlainCut = std::pair<std::vector<std::pair<nb::int_, int>>, nb::int_>;

PlainCut plain_cut(const PyCuts& cuts, std::size_t c) {
    require(c < cuts.pool.size(), "no such cut");
    const auto number = [n = cuts.families.n_variables()](const Variables& set) { return number_of_words(words_of(set, n)); };
    PlainCut plain{{}, number(cuts.pool.cut(c).variables)};
    for (const Cluster& cluster : cuts.pool.cut(c).clusters) plain.first.push_back({number(cluster.members), cluster.k});
    return plain;
}

template <class Set>
NetworkOut give_network(const OrderedNetworkOf<Set>& network) { return {network.cost, numbers_of(network.parents)}; }

std::vector<FlowFamily> flow_families(int n, const Offsets& children, const SetsIn& parents, const DoublesIn& weights) {
    require(children.shape(0) == parents.shape(0) && children.shape(0) == weights.shape(0), "sizes differ");
    const std::size_t words = words_each(parents);
    std::vector<FlowFamily> families;
    for (std::size_t i = 0; i < children.shape(0); ++i) {
        require(children(i) >= 0 && children(i) < n, "child");
        families.push_back({static_cast<int>(children(i)), members_in(parents.data() + i * words, words, n), weights(i)});
    }
    return families;
}

}  // namespace

void bind_relaxation(nb::module_& m) {
    nb::class_<ListedFamilies>(m, "ClusterFamilies", "Families of each variable, for cluster cuts.")
        .def(
            "__init__",
            [](ListedFamilies* self, const Offsets& offsets, const SetsIn& parents) {
                new (self) ListedFamilies(checked_families(offsets, parents));
            },
            "offsets"_a, "parents"_a)
        .def("separate", &separate, "weights"_a, "most_k"_a, "most_cuts"_a, "least_violation"_a, "most_steps"_a,
             "threads"_a, "Clusters (members, k) that these weights violate: grown, and searched for when none was grown.")
        .def("costs_under", &costs_under, "members"_a, "ks"_a, "costs"_a, "allowed"_a, "multipliers"_a, "threads"_a,
             "The bound of these multipliers of clusters on networks of allowed families, and each family's excess.")
        .def("ascend", &ascended, "members"_a, "ks"_a, "excess"_a, "looked_at"_a, "multipliers"_a, "temperature"_a,
             "sweeps"_a, "threads"_a, "Better multipliers of clusters, and weights of the families looked at.")
        .def(
            "propagate",
            [](const ListedFamilies& families, FlagsInOut allowed) {
                require(allowed.shape(0) == families.size(), "sizes differ");
                return propagate_orders(families, span_of(allowed));
            },
            "allowed"_a, "Forbids, in place, families at odds with orders that all others force; False: no network.");
    nb::class_<PyCutList>(m, "CutList", "Cuts of a linear program, to have them back later or in another process.")
        .def("__len__", &PyCutList::size)
        .def("__getstate__", &bytes_of)
        .def("__setstate__", [](PyCutList& listed, const nb::bytes& state) {
            new (&listed) PyCutList{{}, {}, PackedCuts({static_cast<const char*>(state.data()), state.size()})};
        });
    m.def("bytes_of_cuts", [] { return PooledCut::bytes_held.load(); }, "What all cuts that there are take.");
    nb::class_<PyCuts>(m, "Cuts", "Cuts of a linear program over families.")
        .def(nb::init<nb::object, bool>(), "families"_a, "keeps_rows"_a)
        .def("__len__", [](const PyCuts& cuts) { return cuts.pool.size(); })
        .def("limits", &limits_of, "What the coefficients of a network's families add up to at least, for each cut.")
        .def("__getitem__", &plain_cut, "cut"_a, "Its clusters (members, k), and the variables counted once more.")
        .def(
            "add_clusters",
            [](PyCuts& cuts, const SetsIn& members, const Whole& ks) {
                for (const Cluster& cluster : checked_clusters(cuts.families, members, ks))
                    cuts.pool.add({{cluster}, {}, {}});
            },
            "members"_a, "ks"_a)
        .def(
            "add_clause",
            [](PyCuts& cuts, const Flags& marks) {
                require(marks.shape(0) == cuts.families.size(), "sizes differ");
                cuts.pool.add_clause(span_of(marks));
            },
            "marks"_a, "Every network that is asked for has one of the marked families.")
        .def("add_halves", &add_halves, "weights"_a, "most_cuts"_a, "least_violation"_a,
             "Adds halved sums of tight clusters that these weights violate; how many.")
        .def("add_local", &add_local, "weights"_a, "most_members"_a, "most_cuts"_a, "least_violation"_a,
             "Adds cuts from networks of few variables that these weights violate; how many.")
        .def(
            "keep",
            [](PyCuts& cuts, const Flags& kept) {
                require(kept.shape(0) == cuts.pool.size(), "sizes differ");
                cuts.pool.keep(span_of(kept));
            },
            "kept"_a)
        .def("listed", [](const PyCuts& cuts) { return PyCutList{cuts.kept, cuts.pool.cuts(), {}}; })
        .def("replace", &replace_cuts, "listed"_a, "Has these instead of all it had.")
        .def("entries", &entries, "first"_a, "marks"_a, "Cut, family and coefficient, for marked families.")
        .def("bound", &bound_of, "costs"_a, "allowed"_a, "multipliers"_a,
             "The bound of these multipliers on networks of allowed families, and each family's excess over it.");
    m.def(
        "undominated",
        [](const AnyCandidates& any) {
            return any.visit([](const auto& candidates) { return AnyCandidates{undominated(candidates)}; });
        },
        "candidates"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Without families that cost as much as another with some of their parents.");
    m.def(
        "climb_orders",
        [](const AnyCandidates& any, std::int64_t climbs, std::uint64_t seed, const Watch& watch) {
            require(climbs >= 0, "climbs");
            return any.visit([&](const auto& candidates) {
                return give_network(watched(watch, [&](Limits& limits) {
                    return climb_orders(candidates, climbs, seed, limits);
                }));
            });
        },
        "candidates"_a, "climbs"_a, "seed"_a, "limits"_a,
        "Cost and parents of the best network found by local search over orders; infinite cost: none.");
    m.def(
        "climb_from_weights",
        [](const AnyCandidates& any, const ListedFamilies& families, const DoublesIn& weights) {
            require(any.n_variables() == families.n_variables(), "sizes differ");
            const Support support = checked_support(families, weights);
            return any.visit([&](const auto& candidates) {
                nb::gil_scoped_release released;
                Limits limits;
                const auto network = climb_from(candidates, order_of_weights(candidates, support), limits);
                nb::gil_scoped_acquire acquired;
                return give_network(network);
            });
        },
        "candidates"_a, "families"_a, "weights"_a, "The local optimum from an order that fits these weights.");
    m.def(
        "path_flow",
        [](int n, const Offsets& children, const SetsIn& parents, const DoublesIn& weights, int begin, int end,
           const nb::int_& between, double enough) {
            require(begin >= 0 && begin < n, "where paths begin");
            require(end >= 0 && end < n && begin != end, "where paths end");
            const Words inside = words_in(between, n);
            const PathFlow found = path_flow(n, flow_families(n, children, parents, weights), begin, end,
                                             members_in(inside.data(), inside.size(), n), enough);
            return std::make_tuple(found.total, number_of_words(words_of(found.reached, n)), found.through);
        },
        "n"_a, "children"_a, "parents"_a, "weights"_a, "begin"_a, "end"_a, "between"_a, "enough"_a,
        "How much of a path families make; the set with the narrowest way out, when not enough; and by variable how "
        "much enters it.");
    m.def(
        "shortest_walks",
        [](int n, const DoublesIn& lengths) {
            require(lengths.shape(0) == static_cast<std::size_t>(n) * n, "lengths");
            Walks walks = shortest_walks(n, {lengths.data(), lengths.data() + lengths.shape(0)});
            return std::make_pair(give(std::move(walks.lengths)), std::move(walks.nexts));
        },
        "n"_a, "lengths"_a, "Lengths of the shortest walks, row by row, and their first steps.");
}

}  // namespace topdag
