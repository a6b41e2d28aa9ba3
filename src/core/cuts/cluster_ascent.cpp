// cluster_ascent.cpp
#include "cuts/cluster_ascent.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/parallel.h"

namespace topdag {

namespace {

constexpr double nearly_equal = 1e-6;  // of logarithms
constexpr double farthest = 600.0;     // logarithms of weights are kept within this,
constexpr double longest_step = 20.0;  // and of what they change by at a time, where nothing else ends it
constexpr double far_from_one = 1e100;
constexpr std::size_t few_clusters = 64;  // with fewer, starting threads takes longer than it saves

// The families of each variable that an ascent looks at, with weights.
class Looked {
public:
    Looked(const ListedFamilies& families, std::span<const double> excess, std::span<const std::uint8_t> looked_at,
           double temperature) {
        for (int v = 0; v < families.n_variables(); ++v) {
            places_.emplace_back();
            weights_.emplace_back();
            for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i) {
                if (!looked_at[i]) continue;
                places_.back().push_back(i);
                weights_.back().push_back(std::exp(-std::clamp(excess[i] / temperature, -farthest, farthest)));
            }
        }
    }

    const std::vector<std::size_t>& places(int v) const { return places_[v]; }
    std::vector<double>& weights(int v) { return weights_[v]; }

    void make_shares() {
        for (std::vector<double>& own : weights_) {
            const double total = std::accumulate(own.begin(), own.end(), 0.0);
            for (double& weight : own) weight /= total;
        }
    }

    void write_to(std::vector<double>& weights) const {
        for (std::size_t v = 0; v < places_.size(); ++v)
            for (std::size_t j = 0; j < places_[v].size(); ++j) weights[places_[v][j]] = weights_[v][j];
    }

private:
    std::vector<std::vector<std::size_t>> places_;
    std::vector<std::vector<double>> weights_;
};

// One member of a cluster: its families with at least k parents inside are marked by 1, the others by 0.
struct Side {
    int variable;
    std::vector<double> marks;
    double inside = 0.0, outside = 0.0;  // weights

    void weigh(const std::vector<double>& weights) {
        std::array<double, 4> in{}, out{};
        std::size_t i = 0;
        for (; i + 4 <= weights.size(); i += 4)
            for (std::size_t lane = 0; lane < 4; ++lane) {
                in[lane] += marks[i + lane] * weights[i + lane];
                out[lane] += (1.0 - marks[i + lane]) * weights[i + lane];
            }
        for (; i < weights.size(); ++i) {
            in[0] += marks[i] * weights[i];
            out[0] += (1.0 - marks[i]) * weights[i];
        }
        inside = (in[0] + in[1]) + (in[2] + in[3]);
        outside = (out[0] + out[1]) + (out[2] + out[3]);
    }

    // Only shares of weights matter, so that they can be kept from vanishing or growing without end.
    void scale_inside(std::vector<double>& weights, double factor) const {
        const double total = outside + factor * inside;
        const double unit = total < 1.0 / far_from_one || total > far_from_one ? 1.0 / total : 1.0;
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= unit * ((1.0 - marks[i]) + marks[i] * factor);
    }
};

std::vector<Side> sides_of(const ListedFamilies& families, const Cluster& cluster, const Looked& looked) {
    std::vector<char> is_member(families.n_variables(), 0);
    for (const int v : cluster.members) is_member[v] = 1;
    std::vector<Side> sides;
    for (const int v : cluster.members) {
        Side& side = sides.emplace_back(Side{v, {}});
        for (const std::size_t i : looked.places(v))
            side.marks.push_back(n_marked(families.parents(i), is_member) >= cluster.k);
    }
    return sides;
}

// The logarithm of the factor of what is inside, at which the families outside have a weight of k together; at most
// `most`.
double balancing_factor(const std::vector<Side>& sides, int k, double most) {
    const auto outside_at = [&](double logarithm) {
        const double factor = std::exp(logarithm);
        double total = 0.0;
        for (const Side& side : sides)
            if (side.outside > 0) total += side.outside / (side.outside + factor * side.inside);
        return total;
    };
    if (outside_at(most) >= k) return most;
    double high = most, low = std::min(most, 0.0) - 1.0;
    while (low > -longest_step && outside_at(low) < k) {
        high = low;
        low *= 2;
    }
    while (high - low > nearly_equal) {
        const double middle = 0.5 * (low + high);
        (outside_at(middle) >= k ? low : high) = middle;
    }
    return std::max(low, -longest_step);
}

}  // namespace

Ascended ascend(const ListedFamilies& families, const std::vector<Cluster>& clusters, std::span<const double> excess,
                std::span<const std::uint8_t> looked_at, std::span<const double> multipliers,
                const AscentOptions& options) {
    Looked looked(families, excess, looked_at, options.temperature);
    std::vector<std::vector<Side>> sides(clusters.size());
    Limits unlimited(clusters.size() < few_clusters ? 1 : options.threads);
    parallel_for(clusters.size(), unlimited, [&](std::size_t c, int) { sides[c] = sides_of(families, clusters[c], looked); });
    Ascended result{{multipliers.begin(), multipliers.end()}, std::vector<double>(families.size(), 0.0)};
    for (int sweep = 0; sweep < options.sweeps; ++sweep) {
        looked.make_shares();
        for (std::size_t c = 0; c < clusters.size(); ++c) {
            double& multiplier = result.multipliers[c];
            for (Side& side : sides[c]) side.weigh(looked.weights(side.variable));
            const double logarithm =
                balancing_factor(sides[c], clusters[c].k, std::min(multiplier / options.temperature, longest_step));
            multiplier = std::max(0.0, multiplier - options.temperature * logarithm);
            for (const Side& side : sides[c]) side.scale_inside(looked.weights(side.variable), std::exp(logarithm));
        }
    }
    looked.make_shares();
    looked.write_to(result.weights);
    return result;
}

}  // namespace topdag
