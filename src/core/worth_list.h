// worth_list.h: the best networks found so far, each with what it is worth.
#pragma once

#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "var_set.h"

namespace topdag {

class WorthList {
public:
    // At most so many, none further than log_factor behind the best.
    WorthList(std::size_t most, double log_factor) : most_(most), log_factor_(log_factor) {}

    // False when it is there already or not worth enough.
    bool add(double value, const std::vector<VarSet>& parents) {
        if (value < threshold() || !entries_.emplace(-value, parents).second) return false;
        while (entries_.size() > most_ || -entries_.rbegin()->first < best() - log_factor_)
            entries_.erase(std::prev(entries_.end()));
        return true;
    }

    // What is worth less will not be in the list.
    double threshold() const {
        const double last = entries_.size() < most_ ? -std::numeric_limits<double>::infinity() : -entries_.rbegin()->first;
        return std::max(last, best() - log_factor_);
    }
    double best() const {
        return entries_.empty() ? -std::numeric_limits<double>::infinity() : -entries_.begin()->first;
    }
    std::size_t size() const { return entries_.size(); }
    bool is_full() const { return entries_.size() >= most_; }

    // By falling value, then by growing parents.
    const std::set<std::pair<double, std::vector<VarSet>>>& entries() const { return entries_; }

private:
    std::size_t most_;
    double log_factor_;
    std::set<std::pair<double, std::vector<VarSet>>> entries_;
};

}  // namespace topdag
