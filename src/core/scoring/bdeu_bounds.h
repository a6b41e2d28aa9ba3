// bdeu_bounds.h: how much BDeu can score with more parents, from rows that no further parent can tell apart.
//
// An atom of x is a group of rows that are equal on all other variables: every parent set keeps it together. Where
// atoms hold several states of x, no parents can explain x fully [Correia, Cussens & de Campos 2020].
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/var_set.h"
#include "counting/sparse_counts.h"

namespace topdag {

// The atoms of every variable.
class Atoms {
public:
    explicit Atoms(const CountingRows& rows);

    struct Atom {
        std::uint32_t unit;                  // one of its rows
        std::vector<std::uint64_t> counts;   // of the states that occur, largest first
        double likelihood;                   // of its states at the frequencies in the atom, in logs
    };

    const std::vector<Atom>& of(int x) const { return atoms_[x]; }
    // Whether some atom holds several states; without one the bounds say less than the number of cells does.
    bool are_mixed(int x) const { return mixed_[x]; }

private:
    std::vector<std::vector<Atom>> atoms_;
    std::vector<bool> mixed_;
};

// One thread's bounds.
class BdeuBounds {
public:
    BdeuBounds(const CountingRows& rows, const Atoms& atoms, double ess) : rows_(rows), atoms_(atoms), ess_(ess) {}

    // No proper superset of these parents scores more for x; `cells`: how many cells of x and the parents occur.
    double most_beyond(int x, VarSet parents, std::int64_t cells);

    // The least that most_beyond could turn out to be, known at once.
    double least_hope(int x, VarSet parents, std::int64_t cells);

private:
    // What one atom takes off the bounds g and h when its cell has this prior weight or less.
    struct Share { double g, h; };
    struct Shares {
        std::vector<Share> of_atoms;
        Share of_mixed{0.0, 0.0};  // all mixed atoms together
        double likelihood = 0.0;
    };

    void find_labels(VarSet parents);
    const Shares& shares(int x, VarSet parents);
    Share share_of(const Atoms::Atom& atom, int states, double prior) const;

    const CountingRows& rows_;
    const Atoms& atoms_;
    double ess_;
    bool has_labels_ = false;
    VarSet labelled_ = 0;
    std::vector<std::uint32_t> label_;  // by unit: which state of the parents
    std::uint32_t n_labels_ = 0;
    std::vector<std::uint32_t> names_;
    std::vector<Share> least_;
    std::map<std::pair<int, double>, Shares> shares_;
};

}  // namespace topdag
