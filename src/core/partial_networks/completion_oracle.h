// completion_oracle.h: the most that the variables outside a set can add when those of the set come first.
//
// Values are kept by set. Whoever finds one also knows those along the best completion, which are kept too: the value
// of a set further along is the value of the set less what the variables in between add.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"
#include "families/candidates.h"
#include "lattice/lattice.h"
#include "orders/bounds.h"

namespace topdag {

class CompletionOracle {
public:
    virtual ~CompletionOracle() = default;

    // Minus infinity when no network that is asked for begins with these; zero when all are placed.
    double value(VarSet placed);
    // Sets it was asked about that it did not know yet.
    std::uint64_t calls() const { return calls_; }

protected:
    void keep(VarSet placed, double value) { known_.emplace(placed, value); }

private:
    // Keeps the value of the set, and perhaps of others.
    virtual void find(VarSet placed) = 0;

    std::unordered_map<VarSet, double> known_;
    std::uint64_t calls_ = 0;
};

// Reads the lattice's H.
class LatticeOracle final : public CompletionOracle {
public:
    explicit LatticeOracle(const Lattice& lattice) : lattice_(lattice) {}

private:
    void find(VarSet placed) override;

    const Lattice& lattice_;
};

// Searches over orders of the variables outside the set, for listed families [Chen, Choi & Darwiche 2016]. Values are
// counted from the sum of every variable's best local score, so they are what the completion costs, negated.
class OrderOracle final : public CompletionOracle {
public:
    // The bound is one for these families; all these must outlive the oracle. Only networks that score at most
    // `epsilon` less than the best are asked for. `memory`: bytes for one search.
    OrderOracle(const Candidates& candidates, const Bound& bound, double epsilon, std::size_t memory, Limits& limits)
        : candidates_(candidates), bound_(bound), epsilon_(epsilon), memory_(memory), limits_(limits) {}

    // The order of a best network; empty when there is none or the search was stopped.
    const std::vector<int>& best_order();
    // Whether a search took more memory than it may; the limits are then set to stop.
    bool memory_hit() const { return memory_hit_; }

private:
    // Keeps what can be proved in place of the value when a limit stops the search.
    void find(VarSet placed) override;
    double most_cost(VarSet placed);
    Candidates with_free(VarSet placed) const;

    const Candidates& candidates_;
    const Bound& bound_;
    double epsilon_;
    std::size_t memory_;
    Limits& limits_;
    std::vector<int> best_order_;
    bool memory_hit_ = false;
};

}  // namespace topdag
