// ad_tree.cpp: all BDeu set scores from a sparse AD-tree [Moore & Lee 1998], the structure that Yuan & Malone 2013
// count with: the most common state of each variable is left out, and nodes with few rows keep their rows as a list.
// A yardstick for topdag's own counting; not part of the package.
// Input on stdin: n, rows, arities, then the codes row by row. Prints seconds to build, seconds to score, a checksum.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

namespace {

constexpr int list_below = 16;

struct Node;
struct Vary {
    int common;
    std::vector<std::unique_ptr<Node>> child;  // by state; none for the common one and for empty ones
};
struct Node {
    long count = 0;
    std::vector<int> rows;     // only when short
    std::vector<Vary> varies;  // by variable from `first` on; empty when the rows are listed
    int first = 0;
};

int n, n_rows;
std::vector<int> arity;
std::vector<std::vector<int>> code;  // [variable][row]

std::unique_ptr<Node> build(int first, const std::vector<int>& rows) {
    auto node = std::make_unique<Node>();
    node->count = static_cast<long>(rows.size());
    node->first = first;
    if (static_cast<int>(rows.size()) < list_below) {
        node->rows = rows;
        return node;
    }
    for (int v = first; v < n; ++v) {
        std::vector<std::vector<int>> part(arity[v]);
        for (int row : rows) part[code[v][row]].push_back(row);
        Vary vary{0, std::vector<std::unique_ptr<Node>>(arity[v])};
        for (int s = 1; s < arity[v]; ++s)
            if (part[s].size() > part[vary.common].size()) vary.common = s;
        for (int s = 0; s < arity[v]; ++s)
            if (s != vary.common && !part[s].empty()) vary.child[s] = build(v + 1, part[s]);
        node->varies.push_back(std::move(vary));
    }
    return node;
}

// Adds the contingency table of variables[at...] below the node into counts, which has one entry a cell.
void fill(const Node& node, const std::vector<int>& variables, std::size_t at, long* counts, std::size_t cells) {
    if (at == variables.size()) {
        counts[0] += node.count;
        return;
    }
    if (!node.rows.empty()) {
        for (int row : node.rows) {
            std::size_t index = 0;
            for (std::size_t i = at; i < variables.size(); ++i) index = index * arity[variables[i]] + code[variables[i]][row];
            ++counts[index];
        }
        return;
    }
    if (node.count == 0) return;
    const Vary& vary = node.varies[variables[at] - node.first];
    const std::size_t below = cells / arity[variables[at]];
    long* common = counts + vary.common * below;
    fill(node, variables, at + 1, common, below);
    for (int s = 0; s < arity[variables[at]]; ++s) {
        if (s == vary.common || !vary.child[s]) continue;
        std::vector<long> part(below, 0);
        fill(*vary.child[s], variables, at + 1, part.data(), below);
        for (std::size_t i = 0; i < below; ++i) {
            counts[s * below + i] += part[i];
            common[i] -= part[i];
        }
    }
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

int main() {
    std::cin >> n >> n_rows;
    arity.resize(n);
    for (int& a : arity) std::cin >> a;
    code.assign(n, std::vector<int>(n_rows));
    for (int row = 0; row < n_rows; ++row)
        for (int v = 0; v < n; ++v) std::cin >> code[v][row];
    const double begin = now();
    std::vector<int> all(n_rows);
    for (int row = 0; row < n_rows; ++row) all[row] = row;
    const auto root = build(0, all);
    const double built = now();
    double checksum = 0.0;
    for (unsigned long set = 0; set < 1UL << n; ++set) {
        std::vector<int> variables;
        std::size_t cells = 1;
        for (int v = 0; v < n; ++v)
            if (set >> v & 1) {
                variables.push_back(v);
                cells *= arity[v];
            }
        std::vector<long> counts(cells, 0);
        fill(*root, variables, 0, counts.data(), cells);
        const double share = 1.0 / static_cast<double>(cells);
        for (long count : counts)
            if (count > 0) checksum += std::lgamma(share + count) - std::lgamma(share);
    }
    std::printf("%.6f %.6f %.6f\n", built - begin, now() - built, checksum);
}
