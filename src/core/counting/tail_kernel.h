// tail_kernel.h: from the dense counts of a set's cells over the tail, the cell sums of the set joined with
// every subset of the tail at once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/careful_sum.h"
#include "counting/cell_groups.h"
#include "counting/cell_tables.h"
#include "counting/count_plan.h"

namespace topdag {

// Entries are the counts of all subsets of the tail, one after another, the full tail first.
struct TailAddition { std::uint16_t to, a, b; };                // entry `to` is entry a plus entry b
struct TailSubset { std::uint32_t begin, end, function; };      // its entries, and which function they take

class TailKernel {
public:
    TailKernel(const CountPlan& plan, const CellTables& tables);

    // sums[mask]: the sum of the cell function over the cells of the set joined with this subset of the tail.
    void add_up(const SparseCells& sparse, const DenseCells& dense, std::uint64_t set_class, double* sums);

private:
    void plan_subset(int mask);
    void plan_lane_agreements();
    std::uint32_t function_index(std::uint64_t set_class);

    void begin_set(std::uint64_t set_class);
    void take(const std::uint32_t* counts);
    void take_small(const std::uint32_t* counts);
    void take_heavy(const std::uint32_t* counts);
    void finish_batch();
    void add_agreements(const SparseCells& sparse);
    double value(std::uint32_t function, std::uint64_t count) const;
    double settled_sum(const SparseCells& sparse, std::uint32_t function) const;

    const CountPlan& plan_;
    const CellTables& tables_;
    int n_subsets_;
    std::uint32_t lanes_;
    std::uint32_t entries_ = 0;
    std::vector<TailAddition> additions_;
    std::vector<TailSubset> subsets_;              // by mask
    std::vector<std::uint64_t> function_classes_;  // what each function's class adds to the set's
    std::vector<PositionMask> lane_agreement_;     // lanes x lanes

    // for the set at hand
    std::uint64_t set_class_ = 0;
    std::vector<const double*> values_;  // by function
    std::vector<double> common_;         // by function: what settled and lone small rows add to every subset
    std::vector<std::int32_t> counts_;   // entries x batch
    std::vector<double> partial_;        // subsets x batch
    std::vector<double> lost_;           // what these sums have rounded away
    std::vector<CarefulSum> heavy_;      // by mask: over cells with counts beyond the tables
    int filled_ = 0;
    std::uint64_t small_rows_ = 0;
    std::array<std::vector<std::int32_t>, small_limit + 1> agreeing_;  // by size, then by mask
};

}  // namespace topdag
