#include "lattice/block_lattice.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/parallel.h"
#include "lattice/order_tables.h"
#include "lattice/sweeps.h"

namespace topdag {

namespace {

std::vector<const double*> pointers_to(const std::vector<BigArray>& tables) {
    std::vector<const double*> pointers;
    for (const BigArray& table : tables) pointers.push_back(table.data());
    return pointers;
}

}  // namespace

BlockLattice::BlockLattice(const LocalScores& scores, int block_bits, int narrow_bits)
    : n_(scores.n_variables()), low_(std::min(n_, block_bits)), scores_(scores) {
    for (int x = 0; x < n_; ++x) parents_.emplace_back(n_, x < low_ ? low_ - 1 : low_, narrow_bits);
}

double BlockLattice::bytes(int n, bool with_backward, int threads) {
    const int low = std::min(n, block_bits_for(n));
    const double per_thread = 8.0 * (2.0 + low / 2.0) * many_sets(low);
    const double per_block = (sizeof(std::vector<double>) + 16.0) * n * many_sets(n - low);
    return (with_backward ? 16.0 : 8.0) * many_sets(n) + per_block + threads * per_thread;
}

BlockLattice::Workspace BlockLattice::workspace() const {
    Workspace work{BigArray(n_sets(low_)), BigArray(n_sets(low_)), {}};
    for (int x = 0; x < low_; ++x) work.low_best.emplace_back(n_sets(low_ - 1));
    return work;
}

// Calls fill_block for all blocks, those with fewer variables above the block's own first, or last.
template <class FillBlock>
bool BlockLattice::fill_in_layers(bool from_empty, Limits& limits, FillBlock&& fill_block) {
    limits.begin(Phase::ordering, n_sets(n_));
    std::vector<Workspace> workspaces(limits.threads);
    parallel_by_size(n_ - low_, from_empty, limits, [&](VarSet block, int worker) {
        Workspace& work = workspaces[worker];
        if (work.local.size() == 0) work = workspace();
        fill_block(block, work);
        limits.done += n_sets(low_);
    });
    return !limits.stop.load();
}

bool BlockLattice::order(Limits& limits) {
    forward_ = BigArray(n_sets(n_));
    if (!fill_in_layers(true, limits, [&](VarSet block, Workspace& work) { order_block(block, work); }))
        return false;
    for (UndominatedSets& own : parents_) own.finish();
    return true;
}

bool BlockLattice::order_backward(Limits& limits) {
    backward_ = BigArray(n_sets(n_));
    reach_.clear();
    for (const UndominatedSets& own : parents_) reach_.emplace_back(own.n_tops(), minus_infinity);
    return fill_in_layers(false, limits,
                          [&](VarSet block, Workspace& work) { order_block_backward(block, work); });
}

// best(x, .) for the sets of x's block that holds `before`, whose parts have been settled.
void BlockLattice::settle(int x, VarSet before, Workspace& work, double* table) {
    UndominatedSets& own = parents_[x];
    const VarSet top = top_of(x, before);
    own.scatter(top, table);
    scores_.fill(x, top << own.low_bits(), n_sets(own.low_bits()), work.local.data());
    own.settle(top, work.local.data(), table);
    strike_out(x, before, table);
}

// x cannot follow sets that lack a variable before it.
void BlockLattice::strike_out(int x, VarSet before, double* table) const {
    const int bits = parents_[x].low_bits();
    const VarSet wanted = without_bit(scores_.precedence().before(x), x);
    if (is_subset(wanted >> bits, top_of(x, before)))
        strike_out_without(table, wanted & (n_sets(bits) - 1), bits);
    else
        std::fill(table, table + n_sets(bits), minus_infinity);
}

// F for all sets of a block.
void BlockLattice::order_block(VarSet block, Workspace& work) {
    const VarSet base = block << low_;
    double* own = &forward_[base];
    std::fill(own, own + n_sets(low_), minus_infinity);
    if (block == 0) own[0] = 0.0;
    for (VarSet rest = base; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const VarSet before = base & ~only(x);
        settle(x, before, work, work.table.data());
        LargestSums::take_steps(own, work.table.data(), &forward_[before], n_sets(low_));
    }
    for (int x = 0; x < low_; ++x) settle(x, base, work, work.low_best[x].data());
    LargestSums::order_within(own, pointers_to(work.low_best).data(), low_);
}

// H for the same sets, and how far the blocks of x reach.
void BlockLattice::order_block_backward(VarSet block, Workspace& work) {
    const VarSet base = block << low_;
    const VarSet everything = n_sets(n_) - 1;
    double* own = &backward_[base];
    double* table = work.table.data();
    std::fill(own, own + n_sets(low_), minus_infinity);
    if (!scores_.precedence().can_be_ideal(base, n_sets(low_) - 1)) return;
    if (base + n_sets(low_) - 1 == everything) own[n_sets(low_) - 1] = 0.0;
    for (VarSet rest = everything & ~base & ~(n_sets(low_) - 1); rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const double* after = &backward_[base | only(x)];
        parents_[x].fill(top_of(x, base), table);
        strike_out(x, base, table);
        LargestSums::take_steps(own, table, after, n_sets(low_));
        reach_[x][top_of(x, base)] = reach_of(x, base, table, work.local.data());
    }
    for (int x = 0; x < low_; ++x) {
        parents_[x].fill(block, work.low_best[x].data());
        strike_out(x, base, work.low_best[x].data());
    }
    LargestSums::order_within_backward(own, pointers_to(work.low_best).data(), low_);
    strike_out_no_ideals(own, base, low_, scores_.precedence(), minus_infinity);
    for (int x = 0; x < low_; ++x) reach_[x][block] = reach_of(x, base, work.low_best[x].data(), work.local.data());
}

double BlockLattice::reach_of(int x, VarSet base, const double* best, double* scratch) const {
    fill_around(x, top_of(x, base), scratch);
    return largest_sum(best, scratch, n_sets(parents_[x].low_bits()));
}

void BlockLattice::fill_around(int x, VarSet top, double* out) const {
    const std::size_t count = n_sets(parents_[x].low_bits());
    const std::size_t run = std::min<std::size_t>(only(x), count);
    const VarSet first = with_gap(top * count, x);
    add_by_slots(forward_.data() + first, backward_.data() + (first | only(x)), run, count, out);
}

}  // namespace topdag
