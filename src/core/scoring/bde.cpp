// bde.cpp: set scores under an informative Dirichlet prior. The prior probability of a cell is known for the full
// table only, so counts and probabilities are summed out together, variable by variable, dense all the way.

#include "base/careful_sum.h"
#include "base/infinity.h"
#include "base/parallel.h"
#include "scoring/set_scores.h"

namespace topdag {

namespace {

constexpr int task_depth = 5;

struct Cells {
    std::vector<std::uint32_t> counts;
    std::vector<double> prior;
};

class BdeWalk {
public:
    BdeWalk(const Table& table, double ess, int max_size, Limits& limits, double* scores)
        : table_(table), ess_(ess), max_size_(max_size), limits_(limits), scores_(scores), levels_(table.n_variables() + 1) {}

    void run(const Cells& all, std::size_t task, int depth) {
        task_ = task;
        fixed_ = depth;
        visit(0, 0, all, 1);
    }

private:
    // `cells` has `done` cells for the variables decided and kept, each over all variables from v on.
    void visit(int v, VarSet set, const Cells& cells, std::size_t done) {
        if (limits_.stop.load(std::memory_order_relaxed) || size_of(set) > max_size_) return;
        if (v == table_.n_variables()) return score(set, cells);
        if (is_open(v, 1)) visit(v + 1, set | only(v), cells, done * static_cast<std::size_t>(table_.arities[v]));
        if (!is_open(v, 0)) return;
        sum_out(v, cells, done, levels_[v + 1]);
        visit(v + 1, set, levels_[v + 1], done);
    }

    bool is_open(int v, std::size_t decision) const { return v >= fixed_ || ((task_ >> v) & 1) == decision; }

    void sum_out(int v, const Cells& from, std::size_t done, Cells& to) const {
        const auto states = static_cast<std::size_t>(table_.arities[v]);
        const std::size_t rest = from.counts.size() / done / states;
        to.counts.assign(done * rest, 0);
        to.prior.assign(done * rest, 0.0);
        for (std::size_t cell = 0; cell < done * states; ++cell)
            for (std::size_t k = 0; k < rest; ++k) {
                to.counts[cell / states * rest + k] += from.counts[cell * rest + k];
                to.prior[cell / states * rest + k] += from.prior[cell * rest + k];
            }
    }

    void score(VarSet set, const Cells& cells) {
        CarefulSum sum;
        for (std::size_t cell = 0; cell < cells.counts.size(); ++cell)
            if (cells.counts[cell] > 0) sum.add(log_rising(ess_ * cells.prior[cell], cells.counts[cell]));
        scores_[set] = sum.value();
        ++limits_.done;
        limits_.reached();
    }

    const Table& table_;
    double ess_;
    int max_size_;
    Limits& limits_;
    double* scores_;
    std::vector<Cells> levels_;
    std::size_t task_ = 0;
    int fixed_ = 0;
};

Cells count_full_table(const Table& table, const double* prior) {
    std::size_t size = 1;
    for (int arity : table.arities) size *= static_cast<std::size_t>(arity);
    Cells cells{std::vector<std::uint32_t>(size, 0), std::vector<double>(prior, prior + size)};
    for (std::size_t row = 0; row < table.n_distinct; ++row) {
        std::size_t index = 0;
        for (int v = 0; v < table.n_variables(); ++v)
            index = index * static_cast<std::size_t>(table.arities[v]) + table.columns[v][row];
        cells.counts[index] += table.weights[row];
    }
    return cells;
}

}  // namespace

bool score_all_sets_bde(const Table& table, double ess, const double* prior, int max_size, Limits& limits,
                        double* scores) {
    const int n = table.n_variables();
    limits.begin(Phase::counting, n_sets(n));
    std::fill(scores, scores + n_sets(n), minus_infinity);
    const Cells all = count_full_table(table, prior);
    const int depth = std::min(n, task_depth);
    parallel_for(n_sets(depth), limits, [&](std::size_t task, int) {
        BdeWalk(table, ess, max_size, limits, scores).run(all, task, depth);
    });
    return !limits.stop.load();
}

}  // namespace topdag
