#include "cuts/path_flow.h"

#include "binding.h"
#include "bitset_arrays.h"

namespace topdag {

namespace {

template <class Set>
std::vector<FlowFamily<Set>> flow_families(int n, const Offsets& children, const typename SetArrays<Set>::In& parents,
                                           const DoublesIn& weights) {
    require(children.shape(0) == SetArrays<Set>::n_sets(parents) && children.shape(0) == weights.shape(0), "sizes differ");
    std::vector<FlowFamily<Set>> families;
    for (std::size_t i = 0; i < children.shape(0); ++i) {
        require(children(i) >= 0 && children(i) < n, "child");
        families.push_back({static_cast<int>(children(i)), SetArrays<Set>::at(parents, i), weights(i)});
    }
    return families;
}

template <class Set>
void bind_flow(nb::module_& m, const char* name) {
    using Arrays = SetArrays<Set>;
    m.def(
        name,
        [](int n, const Offsets& children, const typename Arrays::In& parents, const DoublesIn& weights, int begin,
           int end, const typename Arrays::Number& between, double enough) {
            require(n <= most_variables<Set> && begin >= 0 && begin < n, "where paths begin");
            require(end >= 0 && end < n && begin != end, "where paths end");
            const std::vector<FlowFamily<Set>> families = flow_families<Set>(n, children, parents, weights);
            PathFlow<Set> found = path_flow(n, families, begin, end, Arrays::set_of(between), enough);
            return std::make_tuple(found.total, Arrays::number(found.reached), std::move(found.through));
        },
        "n"_a, "children"_a, "parents"_a, "weights"_a, "begin"_a, "end"_a, "between"_a, "enough"_a,
        "How much of a path families make; the set with the narrowest way out, when not enough; and by variable how "
        "much enters it.");
}

}  // namespace

void bind_path_flow(nb::module_& m) {
    bind_flow<VarSet>(m, "path_flow");
    bind_flow<WideSet>(m, "path_flow128");
    bind_flow<BroadSet>(m, "path_flow512");
    bind_flow<VastSet>(m, "path_flow2048");
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
