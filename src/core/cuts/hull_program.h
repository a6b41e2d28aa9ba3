// hull_program.h: how far weights are from being a mixture of networks, and the inequality that tells them apart.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cuts/local_orders.h"

namespace topdag {

// Coefficients of options from 0 to 1. The weights add up to `violation` less, by them, than the options of any network,
// in which a variable without option counts as 1.
struct HullCut {
    std::vector<double> coefficients;
    double violation;
};

// Mixtures of networks come as near to the weights as they can: a mixture pays for each variable without option and for
// each option it uses more than its weight. The multipliers of that linear program are the coefficients. It is solved
// by the simplex method; networks enter when the cheapest one by the coefficients so far would help.
class HullProgram {
public:
    HullProgram(LocalOrders& orders, std::span<const double> weights);

    // Ends when the violation is known to be below the least that is asked for (its cut may then be any), when no
    // network helps or after so many steps; the coefficients are from 0 to 1 in any case.
    HullCut solve(double least_violation, int most_steps);

private:
    enum class Kind { unused, excess, network };
    struct Column {
        Kind kind;
        std::size_t number;  // of the option or the network
        double price;
    };
    struct Entering {
        Column column;
        double gain;
    };

    std::size_t convexity() const { return weights_.size(); }  // the row that makes mixtures add up to one
    void find_multipliers();
    Entering best_known() const;
    Entering best_network();
    double network_gain(const std::vector<int>& options, double price) const;
    bool enter(const Column& column);
    void fill_direction(const Column& column);
    double objective() const;

    LocalOrders& orders_;
    std::span<const double> weights_;
    std::size_t size_;
    std::vector<std::vector<int>> networks_;  // the options of each
    std::vector<double> prices_;              // of each: its variables without option
    std::vector<Column> basis_;               // by row
    std::vector<double> values_;              // by row
    std::vector<double> inverse_;             // of the basis
    std::vector<double> multipliers_;         // by row
    std::vector<double> direction_;           // by row: the entering column in terms of the basis
};

}  // namespace topdag
