// local_orders.h: the cheapest network of a few variables when parent sets have any prices at all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace topdag {

inline constexpr int no_option = -1;

// What each variable chooses in a network; `no_option`: none of its parent sets.
struct LocalNetwork {
    double price;
    std::vector<int> options;  // by variable
};

// A few variables, each with a few parent sets among the others, its options. In a network every variable takes an
// option whose parents come before it, or does without and pays what it costs otherwise.
class LocalOrders {
public:
    struct Option {
        int variable;
        std::uint32_t parents;
    };

    // Options stand by variable.
    LocalOrders(int n, std::vector<Option> options);

    int n_variables() const { return n_; }
    std::span<const Option> options() const { return options_; }

    // `prices` by option, `otherwise` by variable. The best first over the sets that come first in an order; a variable
    // that can have its cheapest option comes at once, for it never gets cheaper and only helps the others.
    LocalNetwork cheapest(std::span<const double> prices, std::span<const double> otherwise);

private:
    struct Offer {
        double excess;  // over the cheapest of the variable
        std::uint32_t parents;
        int option;
    };
    struct Step {
        double excess;
        std::uint32_t placed;

        bool operator<(const Step& other) const { return excess > other.excess; }  // the least on top of a heap
    };

    double make_offers(std::span<const double> prices, std::span<const double> otherwise);
    const Offer& best_offer(int v, std::uint32_t placed) const;
    // With those that can have their cheapest option, one after the other; `options`, if given, takes note of these.
    std::uint32_t with_all_free(std::uint32_t placed, std::vector<int>* options = nullptr) const;
    void meet(std::uint32_t placed, double excess, std::uint32_t from, int by);

    int n_;
    std::vector<Option> options_;
    std::vector<std::vector<Offer>> offers_;  // by variable, cheapest first; the last can always be had
    std::vector<double> least_;               // by set met: how it came about most cheaply,
    std::vector<std::uint32_t> from_;         // from which set,
    std::vector<std::uint8_t> by_;            // and by which variable that paid more than it must
    std::vector<std::uint32_t> met_;
    std::vector<Step> open_;  // a heap
};

}  // namespace topdag
