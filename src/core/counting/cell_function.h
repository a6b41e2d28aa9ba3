// cell_function.h: what one cell of a contingency table adds to a score, as a function of its count.
// Every function is 0 at count 0, so empty cells need no special case.
#pragma once

#include <cstdint>

namespace topdag {

enum class CellKind : int {
    one,                // 1: counts the cells that occur
    n_log_n,            // c ln c: the log likelihood's share (BIC, AIC, qNML, fNML)
    n_log_n_regret,     // c ln c + regret(c, parameter): fNML's parent cells
    log_rising,         // lnGamma(parameter + c) - lnGamma(parameter): Dirichlet scores
};

// ln[a (a+1) ... (a+count-1)] = lnGamma(a + count) - lnGamma(a), accurate also where a is tiny or huge.
// Not by std::lgamma: that one writes the global signgam, which threads would share.
double log_rising(double a, std::uint64_t count);

// The log of the multinomial normalising sum C(n, k) [Silander et al. 2018], by its falling-factorial form:
// sum over j of (n falling j)(k-1 rising j) / (n^j j!). Right for any k >= 1, however large.
double regret(std::uint64_t n, double k);

struct CellFunction {
    CellKind kind;
    double parameter;

    double operator()(std::uint64_t count) const;

    // Writes the values at counts 0 ... size-1.
    void tabulate(double* values, std::uint64_t size) const;
};

}  // namespace topdag
