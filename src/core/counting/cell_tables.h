// cell_tables.h: cell functions looked up; sets of one arity class share one table.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arity_classes.h"
#include "base/table.h"
#include "counting/cell_function.h"

namespace topdag {

class CellTables {
public:
    // With `spread`, the parameter is divided by the number of cells of the set (BDeu); else all sets share one table.
    CellTables(const Table& table, CellKind kind, double parameter, bool spread);

    // Classes add up over the variables of a set.
    std::uint64_t class_of(int v) const { return spread_ ? classes_.step(v) : 0; }
    // The values at counts 0 ... limit(); f(1) ... f(4) are always among them.
    const double* values(std::uint64_t set_class) const { return &values_[set_class * length_]; }
    std::uint64_t limit() const { return length_ - 1; }
    CellFunction function(std::uint64_t set_class) const {
        return {kind_, spread_ ? parameter_ / classes_.cells(set_class) : parameter_};
    }

    // Bytes the tables will take.
    static double bytes(const Table& table, bool spread);

private:
    CellKind kind_;
    double parameter_;
    bool spread_;
    ArityClasses classes_;
    std::uint64_t length_;
    std::vector<double> values_;
};

}  // namespace topdag
