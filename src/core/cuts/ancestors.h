// ancestors.h: which variables come before which.
#pragma once

#include <vector>

#include "base/var_set.h"

namespace topdag {

class Ancestors {
public:
    explicit Ancestors(int n) : n_(n), words_(words_for(n)), bits_(static_cast<std::size_t>(n) * words_, 0) {}

    void add(int v, int ancestor) { row(v)[ancestor / 64] |= only(ancestor % 64); }
    bool has(int v, int ancestor) const { return topdag::has(row(v)[ancestor / 64], ancestor % 64); }

    // Adds those before the ones before a variable.
    void close() {
        for (int middle = 0; middle < n_; ++middle)
            for (int v = 0; v < n_; ++v)
                if (has(v, middle))
                    for (int w = 0; w < words_; ++w) row(v)[w] |= row(middle)[w];
    }

private:
    VarSet* row(int v) { return bits_.data() + static_cast<std::size_t>(v) * words_; }
    const VarSet* row(int v) const { return bits_.data() + static_cast<std::size_t>(v) * words_; }

    int n_, words_;
    std::vector<VarSet> bits_;  // by variable: a row of words
};

}  // namespace topdag
