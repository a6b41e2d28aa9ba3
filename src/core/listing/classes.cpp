#include "listing/classes.h"

#include <algorithm>
#include <unordered_map>

namespace topdag {

namespace {

template <class Visit>
void for_each(VarSet set, Visit&& visit) {
    for (; set != 0; set &= set - 1) visit(first_of(set));
}

void direct(MixedGraph& graph, int from, int to) {
    graph.neighbours[from] &= ~only(to);
    graph.neighbours[to] &= ~only(from);
    graph.parents[to] |= only(from);
}

VarSet children_of(const MixedGraph& graph, int v) {
    VarSet children = 0;
    for (int w = 0; w < graph.n_variables(); ++w)
        if (has(graph.parents[w], v)) children |= only(w);
    return children;
}

// Whether b - c must become b -> c, given what is directed [Meek 1995]:
//   1. a -> b with a not adjacent to c;  2. b -> a -> c;  3. b - a -> c and b - d -> c with a, d not adjacent;
//   4. b - d -> a -> c with d adjacent to c or not, b adjacent to a, d not adjacent to c.
bool is_implied(const MixedGraph& graph, int b, int c) {
    if ((graph.parents[b] & ~graph.adjacent(c) & ~only(c)) != 0) return true;
    const VarSet into_c = graph.parents[c];
    if ((children_of(graph, b) & into_c) != 0) return true;
    const VarSet third = graph.neighbours[b] & into_c;
    for (VarSet rest = third; rest != 0; rest &= rest - 1) {
        const int a = first_of(rest);
        if ((third & ~graph.adjacent(a) & ~only(a)) != 0) return true;
    }
    for (VarSet rest = into_c & graph.adjacent(b); rest != 0; rest &= rest - 1) {
        const VarSet second = graph.parents[first_of(rest)] & graph.neighbours[b] & ~graph.adjacent(c) & ~only(c);
        if (second != 0) return true;
    }
    return false;
}

// Directs every edge whose direction follows from those that are directed.
void follow(MixedGraph& graph) {
    for (bool changes = true; changes;) {
        changes = false;
        for (int b = 0; b < graph.n_variables(); ++b)
            for_each(graph.neighbours[b], [&](int c) {
                if (!has(graph.neighbours[b], c) || !is_implied(graph, b, c)) return;
                direct(graph, b, c);
                changes = true;
            });
    }
}

// Counts the ways to direct a connected chordal graph without cycles and v-structures. Graphs are sets of vertices
// of one undirected graph; the same ones come back again and again.
class OrientationCounter {
public:
    explicit OrientationCounter(const std::vector<VarSet>& neighbours) : neighbours_(neighbours) {}

    BigCount count(VarSet vertices) {
        const auto known = counts_.find(vertices);
        if (known != counts_.end()) return known->second;
        const BigCount result = compute(vertices);
        counts_.emplace(vertices, result);
        return result;
    }

    std::vector<VarSet> components(VarSet vertices) const {
        std::vector<VarSet> result;
        while (vertices != 0) {
            VarSet component = vertices & -vertices;
            for (VarSet grown = 0; grown != component;) {
                grown = component;
                for_each(grown, [&](int v) { component |= neighbours_[v] & vertices; });
            }
            result.push_back(component);
            vertices &= ~component;
        }
        return result;
    }

private:
    BigCount compute(VarSet vertices) {
        const std::vector<VarSet> cliques = maximal_cliques(vertices);
        const std::vector<int> parent = clique_tree(cliques);
        BigCount total;
        for (std::size_t k = 0; k < cliques.size(); ++k) {
            BigCount product = orders_of(cliques, parent, k);
            for (VarSet part : parts_after(vertices, cliques[k])) product = product * count(part);
            total += product;
        }
        return total;
    }

    // Repeatedly the vertex with most neighbours already taken: then those neighbours form a clique with it.
    std::vector<VarSet> maximal_cliques(VarSet vertices) const {
        std::vector<VarSet> cliques;
        VarSet taken = 0;
        while (taken != vertices) {
            int next = -1;
            for_each(vertices & ~taken, [&](int v) {
                if (next < 0 || size_of(neighbours_[v] & taken) > size_of(neighbours_[next] & taken)) next = v;
            });
            const VarSet clique = (neighbours_[next] & taken) | only(next);
            taken |= only(next);
            std::erase_if(cliques, [&](VarSet smaller) { return is_subset(smaller, clique); });
            cliques.push_back(clique);
        }
        return cliques;
    }

    // A spanning tree of the cliques with the largest overlaps, rooted at the first; parent[0] = -1.
    static std::vector<int> clique_tree(const std::vector<VarSet>& cliques) {
        std::vector<int> parent(cliques.size(), -1);
        std::vector<bool> joined(cliques.size(), false);
        joined[0] = true;
        for (std::size_t step = 1; step < cliques.size(); ++step) {
            int best_new = -1, best_old = -1, best_size = -1;
            for (std::size_t a = 0; a < cliques.size(); ++a)
                for (std::size_t b = 0; b < cliques.size(); ++b)
                    if (joined[a] && !joined[b] && size_of(cliques[a] & cliques[b]) > best_size) {
                        best_size = size_of(cliques[a] & cliques[b]);
                        best_old = static_cast<int>(a);
                        best_new = static_cast<int>(b);
                    }
            joined[best_new] = true;
            parent[best_new] = best_old;
        }
        return parent;
    }

    // Orders of a clique that belong to it and to no clique nearer the root: none may begin with a separator on
    // the way to the root that lies inside the clique.
    static BigCount orders_of(const std::vector<VarSet>& cliques, const std::vector<int>& parent, std::size_t k) {
        std::vector<int> sizes;
        for (int at = static_cast<int>(k); parent[at] >= 0; at = parent[at]) {
            const VarSet separator = cliques[at] & cliques[parent[at]];
            if (is_subset(separator, cliques[k])) sizes.push_back(size_of(separator));
        }
        std::sort(sizes.begin(), sizes.end(), std::greater<>());
        sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
        sizes.insert(sizes.begin(), size_of(cliques[k]));
        // without[i]: orders of the first sizes[i] places that begin with none of the smaller separators
        std::vector<BigCount> without(sizes.size());
        for (std::size_t i = sizes.size(); i-- > 0;) {
            without[i] = factorial(sizes[i]);
            for (std::size_t j = i + 1; j < sizes.size(); ++j) without[i] -= factorial(sizes[i] - sizes[j]) * without[j];
        }
        return without[0];
    }

    static BigCount factorial(int n) {
        BigCount result = 1;
        for (int i = 2; i <= n; ++i) result = result * static_cast<std::uint64_t>(i);
        return result;
    }

    // What stays undirected outside a clique that comes first: connected parts.
    std::vector<VarSet> parts_after(VarSet vertices, VarSet clique) const {
        std::vector<VarSet> parts;
        std::vector<VarSet> sets{clique, vertices & ~clique};
        VarSet seen = clique;  // vertices whose part is known
        while (true) {
            std::erase(sets, VarSet{0});
            if (sets.empty()) return parts;
            const VarSet group = sets.front();
            if (!is_subset(group, seen)) {
                for (VarSet part : components(group)) parts.push_back(part);
                seen |= group;
            }
            const int v = first_of(group);
            sets.front() &= ~only(v);
            std::vector<VarSet> split;
            for (VarSet set : sets) {
                split.push_back(set & neighbours_[v]);
                split.push_back(set & ~neighbours_[v]);
            }
            sets = std::move(split);
        }
    }

    const std::vector<VarSet>& neighbours_;
    std::unordered_map<VarSet, BigCount> counts_;
};

}  // namespace

VarSet MixedGraph::adjacent(int v) const { return parents[v] | neighbours[v] | children_of(*this, v); }

MixedGraph class_of(const std::vector<VarSet>& parents) {
    const int n = static_cast<int>(parents.size());
    std::vector<VarSet> adjacent(parents);
    for (int v = 0; v < n; ++v) for_each(parents[v], [&](int p) { adjacent[p] |= only(v); });
    MixedGraph graph{std::vector<VarSet>(n, 0), adjacent};
    for (int v = 0; v < n; ++v)
        for_each(parents[v], [&](int p) {
            if ((parents[v] & ~adjacent[p] & ~only(p)) != 0) direct(graph, p, v);  // a v-structure
        });
    follow(graph);
    return graph;
}

BigCount class_size(const MixedGraph& graph) {
    OrientationCounter counter(graph.neighbours);
    BigCount product = 1;
    VarSet undirected = 0;
    for (int v = 0; v < graph.n_variables(); ++v)
        if (graph.neighbours[v] != 0) undirected |= only(v);
    for (VarSet component : counter.components(undirected)) product = product * counter.count(component);
    return product;
}

Members::Members(MixedGraph graph) { waiting_.push_back(std::move(graph)); }

bool Members::next() {
    if (waiting_.empty()) return false;
    MixedGraph graph = std::move(waiting_.back());
    waiting_.pop_back();
    for (int v = 0; v < graph.n_variables(); ++v)
        while (graph.neighbours[v] != 0) {
            const int w = first_of(graph.neighbours[v]);
            MixedGraph other = graph;
            direct(other, w, v);
            follow(other);
            waiting_.push_back(std::move(other));
            direct(graph, v, w);
            follow(graph);
        }
    parents = std::move(graph.parents);
    return true;
}

}  // namespace topdag
