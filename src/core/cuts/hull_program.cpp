// hull_program.cpp
#include "cuts/hull_program.h"

#include <algorithm>

#include "base/infinity.h"

namespace topdag {

namespace {

constexpr double least_gain = 1e-9;
constexpr double least_pivot = 1e-9;

}  // namespace

HullProgram::HullProgram(LocalOrders& orders, std::span<const double> weights)
    : orders_(orders), weights_(weights), size_(weights.size() + 1), values_(weights.begin(), weights.end()),
      inverse_(size_ * size_, 0.0), multipliers_(size_), direction_(size_) {
    for (std::size_t r = 0; r < size_; ++r) inverse_[r * size_ + r] = 1.0;
    for (std::size_t i = 0; i < weights.size(); ++i) basis_.push_back({Kind::unused, i, 0.0});
    networks_.push_back({});  // the mixture starts with the network in which no variable has an option
    prices_.push_back(orders.n_variables());
    basis_.push_back({Kind::network, 0, prices_[0]});
    values_.push_back(1.0);
}

HullCut HullProgram::solve(double least_violation, int most_steps) {
    for (int step = 0; step < most_steps && objective() >= least_violation; ++step) {
        find_multipliers();
        Entering entering = best_known();
        if (entering.gain < least_gain) entering = best_network();
        if (entering.gain < least_gain || !enter(entering.column)) break;
    }
    find_multipliers();
    HullCut cut{{}, objective()};
    for (std::size_t i = 0; i < weights_.size(); ++i)
        cut.coefficients.push_back(std::clamp(-multipliers_[i], 0.0, 1.0));
    return cut;
}

double HullProgram::objective() const {
    double sum = 0.0;
    for (std::size_t r = 0; r < size_; ++r) sum += basis_[r].price * values_[r];
    return sum;
}

void HullProgram::find_multipliers() {
    std::fill(multipliers_.begin(), multipliers_.end(), 0.0);
    for (std::size_t r = 0; r < size_; ++r) {
        if (basis_[r].price == 0.0) continue;
        for (std::size_t c = 0; c < size_; ++c) multipliers_[c] += basis_[r].price * inverse_[r * size_ + c];
    }
}

double HullProgram::network_gain(const std::vector<int>& options, double price) const {
    double gain = multipliers_[convexity()] - price;
    for (const int i : options) gain += multipliers_[i];
    return gain;
}

// Of the columns there are already.
HullProgram::Entering HullProgram::best_known() const {
    Entering best{{}, 0.0};
    const auto consider = [&best](const Column& column, double gain) {
        if (gain > best.gain) best = {column, gain};
    };
    for (std::size_t i = 0; i < weights_.size(); ++i) {
        consider({Kind::unused, i, 0.0}, multipliers_[i]);
        consider({Kind::excess, i, 1.0}, -1.0 - multipliers_[i]);
    }
    for (std::size_t d = 0; d < networks_.size(); ++d)
        consider({Kind::network, d, prices_[d]}, network_gain(networks_[d], prices_[d]));
    return best;
}

HullProgram::Entering HullProgram::best_network() {
    std::vector<double> coefficients;
    for (std::size_t i = 0; i < weights_.size(); ++i) coefficients.push_back(std::max(-multipliers_[i], 0.0));
    const std::vector<double> otherwise(static_cast<std::size_t>(orders_.n_variables()), 1.0);
    std::vector<int> options = orders_.cheapest(coefficients, otherwise).options;
    std::erase(options, no_option);
    const double price = orders_.n_variables() - static_cast<double>(options.size());
    const double gain = network_gain(options, price);
    networks_.push_back(std::move(options));
    prices_.push_back(price);
    return {{Kind::network, networks_.size() - 1, price}, gain};
}

void HullProgram::fill_direction(const Column& column) {
    for (std::size_t r = 0; r < size_; ++r) {
        const double* row = inverse_.data() + r * size_;
        if (column.kind != Kind::network) {
            direction_[r] = column.kind == Kind::unused ? row[column.number] : -row[column.number];
        } else {
            direction_[r] = row[convexity()];
            for (const int i : networks_[column.number]) direction_[r] += row[i];
        }
    }
}

// The column takes the place of the one that is used up first. False when none ever is.
bool HullProgram::enter(const Column& column) {
    fill_direction(column);
    std::size_t leaving = size_;
    double step = infinity;
    for (std::size_t r = 0; r < size_; ++r) {
        if (direction_[r] < least_pivot) continue;
        const double ratio = std::max(values_[r], 0.0) / direction_[r];
        if (ratio < step - 1e-12 || (ratio < step + 1e-12 && direction_[r] > direction_[leaving])) {
            leaving = r;
            step = std::min(step, ratio);
        }
    }
    if (leaving == size_) return false;
    double* own = inverse_.data() + leaving * size_;
    for (std::size_t c = 0; c < size_; ++c) own[c] /= direction_[leaving];
    for (std::size_t r = 0; r < size_; ++r) {
        if (r == leaving || direction_[r] == 0.0) continue;
        values_[r] -= step * direction_[r];
        double* row = inverse_.data() + r * size_;
        for (std::size_t c = 0; c < size_; ++c) row[c] -= direction_[r] * own[c];
    }
    values_[leaving] = step;
    basis_[leaving] = column;
    return true;
}

}  // namespace topdag
