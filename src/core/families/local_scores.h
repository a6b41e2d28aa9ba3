// local_scores.h: the local score of any family (x, U), however it is stored; minus infinity when not allowed.
// Sets of parents of x are numbered by their bits with bit x left out ("slots"), 0 ... 2^(n-1) - 1.
#pragma once

#include <cstdint>
#include <vector>

#include "base/infinity.h"
#include "base/var_set.h"
#include "families/precedence.h"

namespace topdag {

inline constexpr double not_allowed = minus_infinity;

class LocalScores {
public:
    virtual ~LocalScores() = default;
    virtual int n_variables() const = 0;
    // Writes the local scores of x for the slots begin ... begin + count - 1. Both are multiples of the largest
    // power of two not above 2^(n-1) and `count`.
    virtual void fill(int x, std::size_t begin, std::size_t count, double* out) const = 0;

    // What orders must agree with besides; none unless set.
    const Precedence& precedence() const { return precedence_; }
    void set_precedence(Precedence precedence) { precedence_ = std::move(precedence); }

private:
    Precedence precedence_;
};

// The parents that one variable may have: all of `must`, none outside `may`, so many.
struct ParentLimits {
    VarSet must = 0;
    VarSet may = ~VarSet{0};
    int least = 0;
    int most = 64;
};

// local(x | U) = joint(U + x) - below_x(U), for functions of sets; joint is minus infinity where not allowed.
class DifferenceScores final : public LocalScores {
public:
    // Families beyond the limits, which are given for all variables or for none, are not allowed either.
    DifferenceScores(int n, const double* joint, std::vector<const double*> below,
                     std::vector<ParentLimits> limits = {})
        : n_(n), joint_(joint), below_(std::move(below)), limits_(std::move(limits)) {}
    int n_variables() const override { return n_; }
    void fill(int x, std::size_t begin, std::size_t count, double* out) const override;

private:
    int n_;
    const double* joint_;
    std::vector<const double*> below_;  // by variable
    std::vector<ParentLimits> limits_;  // by variable, or empty
};

// Every family stored: families[x * 2^(n-1) + slot].
class FamilyScores final : public LocalScores {
public:
    FamilyScores(int n, const double* families) : n_(n), families_(families) {}
    int n_variables() const override { return n_; }
    void fill(int x, std::size_t begin, std::size_t count, double* out) const override;

private:
    int n_;
    const double* families_;
};

// Some families listed, all others not allowed.
class ListedScores final : public LocalScores {
public:
    // Families of x stand from offsets[x] to offsets[x + 1].
    ListedScores(int n, const std::int64_t* offsets, const std::uint64_t* parents, const double* scores);
    int n_variables() const override { return n_; }
    void fill(int x, std::size_t begin, std::size_t count, double* out) const override;

private:
    struct Entry { VarSet slot; double score; };
    int n_;
    std::vector<std::vector<Entry>> entries_;  // by variable, slots ascending
};

}  // namespace topdag
