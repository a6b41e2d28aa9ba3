// arity_classes.h: sets of variables that have equally many variables of each arity form one class; what
// depends on a set only through its number of cells is kept once a class.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace topdag {

class ArityClasses {
public:
    explicit ArityClasses(const std::vector<int>& arities) : step_(arities.size()) {
        std::map<int, std::uint64_t> count;
        for (int arity : arities) ++count[arity];
        for (const auto& [arity, variables] : count) {
            for (std::size_t v = 0; v < arities.size(); ++v)
                if (arities[v] == arity) step_[v] = n_classes_;
            groups_.push_back({arity, variables + 1});
            n_classes_ *= variables + 1;
        }
    }

    std::uint64_t size() const { return n_classes_; }

    // The class of a set is the sum of the steps of its variables.
    std::uint64_t step(int v) const { return step_[v]; }

    // Cells of a set of this class: the product of its arities.
    double cells(std::uint64_t set_class) const {
        double cells = 1.0;
        for (const Group& group : groups_) {
            cells *= std::pow(group.arity, static_cast<double>(set_class % group.radix));
            set_class /= group.radix;
        }
        return cells;
    }

private:
    struct Group { int arity; std::uint64_t radix; };

    std::vector<std::uint64_t> step_;
    std::vector<Group> groups_;
    std::uint64_t n_classes_ = 1;
};

}  // namespace topdag
