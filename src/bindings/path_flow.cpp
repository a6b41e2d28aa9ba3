#include "../core/path_flow.h"

#include "binding.h"

namespace topdag {

namespace {

std::vector<FlowFamily> flow_families(int n, const Offsets& children, const Masks& parents, const DoublesIn& weights) {
    require(children.shape(0) == parents.shape(0) && children.shape(0) == weights.shape(0), "sizes differ");
    std::vector<FlowFamily> families;
    for (std::size_t i = 0; i < children.shape(0); ++i) {
        require(children(i) >= 0 && children(i) < n, "child");
        families.push_back({static_cast<int>(children(i)), parents(i), weights(i)});
    }
    return families;
}

}  // namespace

void bind_path_flow(nb::module_& m) {
    m.def(
        "path_flow",
        [](int n, const Offsets& children, const Masks& parents, const DoublesIn& weights, int begin, int end,
           std::uint64_t between, double enough) {
            require(n <= 64 && begin >= 0 && begin < n && end >= 0 && end < n && begin != end, "ends");
            PathFlow found = path_flow(n, flow_families(n, children, parents, weights), begin, end, between, enough);
            return std::make_tuple(found.total, found.reached, std::move(found.through));
        },
        "n"_a, "children"_a, "parents"_a, "weights"_a, "begin"_a, "end"_a, "between"_a, "enough"_a,
        "How much of a path families make; the set with the narrowest way out, when not enough; and by variable how "
        "much enters it.");
    m.def(
        "shortest_walks",
        [](int n, const DoublesIn& lengths) {
            require(lengths.shape(0) == static_cast<std::size_t>(n) * n, "lengths");
            Walks walks = shortest_walks(n, {lengths.data(), lengths.data() + lengths.shape(0)});
            return std::make_pair(give_vector<double, DoublesOut>(std::move(walks.lengths)), std::move(walks.nexts));
        },
        "n"_a, "lengths"_a, "Lengths of the shortest walks, row by row, and their first steps.");
}

}  // namespace topdag
