// worth_list.h: the best networks found so far, each with what it is worth: its score and the log of its weight.
// Threads may share a list; what it holds in the end does not depend on who counts what.
#pragma once

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/infinity.h"
#include "base/var_set.h"
#include "order_prior/order_weight.h"

namespace topdag {

class WorthList {
public:
    using Entries = std::set<std::pair<double, std::vector<VarSet>>>;

    // At most so many, none further than log_factor behind the best. The weight must outlive the list.
    WorthList(const OrderWeight& weight, std::size_t most, double log_factor)
        : weight_(weight), most_(most), log_factor_(log_factor) {}

    // What a network with this score is worth, exactly; it is in the list from now on if it belongs there. Minus
    // infinity for parents that go round in a circle.
    double count(double score, const std::vector<VarSet>& parents) {
        const std::optional<double> weight = weight_.of(parents);  // takes long
        const std::lock_guard guard(lock_);
        ++counted_;
        if (!weight) return minus_infinity;
        add(score + *weight, parents);
        return score + *weight;
    }

    // What is worth less will not be in the list.
    double threshold() const {
        const std::lock_guard guard(lock_);
        return least();
    }
    double best() const {
        const std::lock_guard guard(lock_);
        return most_worth();
    }
    std::size_t most() const { return most_; }
    std::size_t size() const { return entries_.size(); }
    std::size_t n_counted() const { return counted_; }
    // With the value turned round: by falling value, then by growing parents. While no thread counts.
    const Entries& entries() const { return entries_; }

private:
    double least() const {
        if (entries_.size() < most_) return most_worth() - log_factor_;
        return std::max(-entries_.rbegin()->first, most_worth() - log_factor_);
    }
    double most_worth() const {
        return entries_.empty() ? minus_infinity : -entries_.begin()->first;
    }
    void add(double value, const std::vector<VarSet>& parents) {
        if (value < least() || !entries_.emplace(-value, parents).second) return;
        while (entries_.size() > most_ || -entries_.rbegin()->first < most_worth() - log_factor_)
            entries_.erase(std::prev(entries_.end()));
    }

    const OrderWeight& weight_;
    std::size_t most_;
    double log_factor_;
    mutable std::mutex lock_;  // of what follows
    std::size_t counted_ = 0;
    Entries entries_;
};

}  // namespace topdag
