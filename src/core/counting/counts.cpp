#include "counting/counts.h"

#include <algorithm>
#include <memory>

#include "base/infinity.h"
#include "base/parallel.h"
#include "counting/cell_groups.h"
#include "counting/cell_tables.h"
#include "counting/count_plan.h"
#include "counting/tail_kernel.h"

namespace topdag {

namespace {

constexpr int tail_cells = 243;        // five binary variables: 32 sets from 243 look-ups a cell
constexpr int task_depth = 6;          // the first so many decisions make the tasks that threads share
constexpr std::uint64_t rows_between_checks = 1 << 16;  // looked at by leaves between two looks at the clock

// A set of head variables, grown by deciding position after position.
struct HeadSet {
    VarSet variables = 0;
    int size = 0;
    double cells = 1.0;
    std::uint64_t set_class = 0;
};

// One thread's walk over the sets of head variables. Leaf::at is called with the cells of each.
template <class Leaf>
class Walk {
public:
    Walk(const CountPlan& plan, const SetLimits& wanted, Limits& limits, Leaf& leaf)
        : plan_(plan), wanted_(wanted), limits_(limits), leaf_(leaf), levels_(plan.head + 1) {
        begin_cells(plan_, levels_[0].sparse[0], levels_[0].dense[0]);
    }

    // Walks the part of the tree whose first `depth` decisions are the bits of `task`.
    void run(std::size_t task, int depth) {
        task_ = task;
        fixed_ = depth;
        visit(0, HeadSet{}, levels_[0].sparse[0], levels_[0].dense[0]);
        report();
    }

private:
    struct Level {
        SparseCells sparse[2];  // after leaving out, after taking in
        DenseCells dense[2];
    };

    void visit(int position, const HeadSet& set, const SparseCells& sparse, const DenseCells& dense) {
        if (limits_.stop.load(std::memory_order_relaxed)) return;
        if (position == plan_.head) {
            leaf_.at(set, sparse, dense);
            if (++leaves_ * (plan_.n_distinct + 1000) > rows_between_checks) report();
            return;
        }
        Level& next = levels_[position + 1];
        if (is_open(position, 0)) {
            const SparseCells& after = exclude(plan_, position, sparse, dense, next.sparse[0], next.dense[0]);
            visit(position + 1, set, after, next.dense[0]);
        }
        const HeadSet larger = with(set, position);
        if (is_open(position, 1) && larger.size <= wanted_.max_size && larger.cells <= wanted_.max_cells) {
            include(plan_, position, sparse, dense, next.sparse[1], next.dense[1], scratch_);
            visit(position + 1, larger, next.sparse[1], next.dense[1]);
        }
    }

    bool is_open(int position, std::size_t decision) const {
        return position >= fixed_ || ((task_ >> position) & 1) == decision;
    }

    HeadSet with(const HeadSet& set, int position) const {
        const int v = plan_.variable[position];
        return {set.variables | only(v), set.size + 1, set.cells * plan_.arity[position],
                set.set_class + leaf_.class_of(v)};
    }

    void report() {
        limits_.done += leaves_ << plan_.tail;
        leaves_ = 0;
        limits_.reached();
    }

    const CountPlan& plan_;
    const SetLimits& wanted_;
    Limits& limits_;
    Leaf& leaf_;
    std::vector<Level> levels_;
    std::vector<std::uint32_t> scratch_;
    std::size_t task_ = 0;
    int fixed_ = 0;
    std::uint64_t leaves_ = 0;
};

// Sums for a head set joined with every subset of the tail.
class SumLeaf {
public:
    SumLeaf(const CountPlan& plan, const CellTables& tables, const SetLimits& wanted, double* sums)
        : tables_(tables), wanted_(wanted), kernel_(plan, tables), out_(sums), values_(n_sets(plan.tail)) {
        for (PositionMask mask = 0; mask < values_.size(); ++mask) {
            double cells = 1.0;
            for (int t = 0; t < plan.tail; ++t)
                if ((mask >> (plan.tail - 1 - t)) & 1) cells *= plan.arity[plan.head + t];
            tail_sets_.push_back({plan.variables_of(mask), std::popcount(mask), cells});
        }
    }

    std::uint64_t class_of(int v) const { return tables_.class_of(v); }

    void at(const HeadSet& set, const SparseCells& sparse, const DenseCells& dense) {
        kernel_.add_up(sparse, dense, set.set_class, values_.data());
        for (std::size_t mask = 0; mask < values_.size(); ++mask) {
            const TailSet& tail = tail_sets_[mask];
            if (set.size + tail.size <= wanted_.max_size && set.cells * tail.cells <= wanted_.max_cells)
                out_[set.variables | tail.variables] = values_[mask];
        }
    }

private:
    struct TailSet { VarSet variables; int size; double cells; };

    const CellTables& tables_;
    const SetLimits& wanted_;
    TailKernel kernel_;
    double* out_;
    std::vector<double> values_;
    std::vector<TailSet> tail_sets_;
};

// Tallies for a set; the plan has no tail, so a head set is a set and dense cells are single counts.
class TallyLeaf {
public:
    explicit TallyLeaf(const std::function<void(VarSet, const std::vector<Tally>&)>& visit) : visit_(visit) {}

    std::uint64_t class_of(int) const { return 0; }

    void at(const HeadSet& set, const SparseCells& sparse, const DenseCells& dense) {
        rows_.clear();
        for (const DenseCells::Block& block : dense.blocks)
            for (std::size_t cell = 0; cell < block.cells; ++cell)
                if (block.counts[cell] > 0) rows_.push_back(block.counts[cell]);
        rows_.insert(rows_.end(), sparse.heavy.begin(), sparse.heavy.end());
        std::sort(rows_.begin(), rows_.end());
        tallies_.clear();
        for (std::uint32_t rows : rows_) add(rows, 1);
        for (std::uint32_t rows = 1; rows < light_limit; ++rows) add(rows, sparse.light[rows]);
        add_small(sparse);
        visit_(set.variables, tallies_);
    }

private:
    void add(std::uint64_t rows, std::uint64_t cells) {
        if (cells == 0) return;
        if (tallies_.empty() || tallies_.back().rows != rows) tallies_.push_back({rows, 0});
        tallies_.back().cells += cells;
    }

    // Small cells by size from their agreements: a four holds 4 triples and 6 pairs, a triple 3 pairs.
    void add_small(const SparseCells& sparse) {
        const std::uint64_t fours = sparse.agreeing[4].size();
        const std::uint64_t triples = sparse.agreeing[3].size() - 4 * fours;
        const std::uint64_t pairs = sparse.agreeing[2].size() - 3 * triples - 6 * fours;
        add(4, fours);
        add(3, triples);
        add(2, pairs);
        add(1, sparse.small_rows - 4 * fours - 3 * triples - 2 * pairs);
    }

    const std::function<void(VarSet, const std::vector<Tally>&)>& visit_;
    std::vector<std::uint32_t> rows_;
    std::vector<Tally> tallies_;
};

template <class Leaf, class MakeLeaf>
bool walk_all(const CountPlan& plan, const SetLimits& wanted, Limits& limits, MakeLeaf&& make_leaf) {
    struct Worker {
        std::unique_ptr<Leaf> leaf;
        std::unique_ptr<Walk<Leaf>> walk;
    };
    std::vector<Worker> workers(limits.threads);
    const int depth = std::min(plan.head, task_depth);
    parallel_for(n_sets(depth), limits, [&](std::size_t task, int worker) {
        Worker& own = workers[worker];
        if (!own.walk) {
            own.leaf = make_leaf();
            own.walk = std::make_unique<Walk<Leaf>>(plan, wanted, limits, *own.leaf);
        }
        own.walk->run(task, depth);
    });
    return !limits.stop.load();
}

// Threads share this too: memory not held before is handed out slowly.
void clear(double* sums, std::size_t size, Limits& limits) {
    constexpr std::size_t part = std::size_t{1} << 22;
    parallel_for((size + part - 1) / part, limits, [&](std::size_t i, int) {
        std::fill(sums + i * part, sums + std::min(size, (i + 1) * part), minus_infinity);
    });
}

}  // namespace

bool sum_over_cells(const Table& table, CellKind kind, double parameter, bool spread, const SetLimits& wanted,
                    Limits& limits, double* sums, int masked) {
    const CountPlan plan(table, tail_cells, masked);
    const CellTables tables(table, kind, parameter, spread);
    clear(sums, n_sets(plan.n), limits);
    return walk_all<SumLeaf>(plan, wanted, limits,
                             [&] { return std::make_unique<SumLeaf>(plan, tables, wanted, sums); });
}

bool tally_all_sets(const Table& table, const SetLimits& wanted, Limits& limits,
                    const std::function<void(VarSet, const std::vector<Tally>&)>& visit) {
    const CountPlan plan(table, 1);
    return walk_all<TallyLeaf>(plan, wanted, limits, [&] { return std::make_unique<TallyLeaf>(visit); });
}

double counting_bytes(const Table& table, bool spread, int threads) {
    // Per thread and level at most the rows, a dense table and the agreements; levels grow smaller with depth.
    const double per_thread = 64.0 * static_cast<double>(table.n_distinct) * (table.n_variables() + 1);
    const double rows = static_cast<double>(table.n_distinct) * 4.0 * (table.n_variables() + 20);
    return CellTables::bytes(table, spread) + rows + per_thread * threads;
}

}  // namespace topdag
