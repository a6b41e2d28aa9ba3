// sparse_sums.h: the sums of order_sums.h over the few sets that matter once most families are gone.
//
// Steps from set to set are followed forward. A step is left out when all orders through it together weigh less than
// a small share of what is looked for; what they weigh at most is added up and counts in every bound, so bounds stay
// safe. What a set can still bring is known from the sums over more families that were made before.
#pragma once

#include <memory>
#include <vector>

#include "base/big_array.h"
#include "order_prior/closed_sets.h"
#include "order_prior/order_sums.h"

namespace topdag {

// What is known of each set from the sums over families that include all those to come.
struct KnownSet { double potential, most_rest; };
using KnownSets = BigArrayOf<KnownSet>;
KnownSets known_sets(const OrderSums& before, Limits& limits);

// For one thread; several may share what is known.
class SparseSums {
public:
    SparseSums(const OrderSums& before, std::shared_ptr<const KnownSets> known);

    // R and B. Steps whose orders weigh less than `least` are left out. False when it has more sets than `most_sets`
    // or a limit stopped it.
    bool sum(const std::vector<BestWithin>& own, double least, std::size_t most_sets, Limits& limits);

    // As in OrderSums, for all variables, but without what was left out. Adds to the shares.
    void share_out(const std::vector<double*>& shares) const;
    double total() const { return total_; }
    double left_out() const { return left_out_; }
    int likely_last(VarSet placed) const;
    std::size_t n_steps() const { return steps_.size(); }

    // Of so many sums, and of what they share, before there are any sets; and of the sets.
    static double bytes(int n, int sums) { return (16.0 + 4.0 * sums) * many_sets(n); }
    static double bytes_of_sets(int n, std::size_t most_sets) {
        return (32.0 + 24.0 * n / 2) * static_cast<double>(most_sets);
    }

private:
    struct Kept { VarSet set; double forward, backward; std::size_t steps; };
    struct Step { double weight; std::uint32_t to, place; int x; };

    void follow(std::size_t from, const std::vector<BestWithin>& own, double least);
    void forget();
    std::size_t end_of_steps(std::size_t from) const {
        return from + 1 < sets_.size() ? sets_[from + 1].steps : steps_.size();
    }

    int n_;
    const OrderSums& before_;
    std::shared_ptr<const KnownSets> known_;  // by set
    BigArrayOf<std::int32_t> places_;         // by set: in sets_, or -1; made when first needed
    std::vector<Kept> sets_;    // by size
    std::vector<Step> steps_;   // those of a set from its `steps` on
    std::vector<ClosedSets> among_;  // by variable
    double total_ = 0.0, left_out_ = 0.0;
};

}  // namespace topdag
