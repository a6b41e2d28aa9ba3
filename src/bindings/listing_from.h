// listing_from.h: the same lists, counts and streams from any lattice.
//
// Held is what Python holds; lattice_of(held) is the lattice in it, and offset_of(held) what its scores are counted from.
#pragma once

#include <memory>
#include <vector>

#include "binding.h"
#include "listing/best_lists.h"
#include "listing/listing.h"

namespace topdag {

inline const Lattice& lattice_of(const PyLattice& held) { return *held.lattice; }
inline double offset_of(const PyLattice&) { return 0.0; }

struct Batch {
    bool finished = false;  // none is left
    std::vector<double> scores;
    std::vector<VarSet> parents;
};

// A walk that waits in between, for streams.
class NetworkStream {
public:
    virtual ~NetworkStream() = default;
    virtual Batch next(std::size_t most, Limits& limits) = 0;
    virtual std::size_t n_variables() const = 0;
};

template <class AnyLattice>
class StreamFrom final : public NetworkStream {
public:
    StreamFrom(const AnyLattice& lattice, FamilyTable families, double lowest, double offset)
        : families_(std::move(families)),
          rule_(lattice, families_, best_order(lattice)),
          walk_(lattice, families_, rule_, lowest),
          n_(static_cast<std::size_t>(lattice.n_variables())),
          offset_(offset) {
        walk_.begin({typename NetworkRule<AnyLattice>::State{}, std::vector<VarSet>(n_, 0)});
    }

    Batch next(std::size_t most, Limits& limits) override {
        Batch batch;
        limits.begin(Phase::listing, 0);
        while (batch.scores.size() < most) {
            const Walked step = walk_.next();
            if (step == Walked::found) {
                batch.scores.push_back(walk_.score + offset_);
                batch.parents.insert(batch.parents.end(), walk_.parents.begin(), walk_.parents.end());
            } else if (step == Walked::ended || limits.reached()) {
                batch.finished = step == Walked::ended;
                break;
            }
        }
        return batch;
    }

    std::size_t n_variables() const override { return n_; }

private:
    FamilyTable families_;
    NetworkRule<AnyLattice> rule_;
    Walk<AnyLattice, NetworkRule<AnyLattice>> walk_;
    std::size_t n_;
    double offset_;
};

template <class Held>
void bind_listing_from(nb::module_& m) {
    m.def(
        "list_best",
        [](const Held& held, Listed what, std::size_t most, double lowest, int threads, std::optional<double> seconds,
           nb::object on_tick) {
            const double offset = offset_of(held);
            BestList list = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) { return list_best(lattice_of(held), {what, most, lowest - offset}, threads, limits); });
            for (double& score : list.scores) score += offset;
            return std::make_tuple(list.finished, list.floor + offset,
                                   give_vector<double, DoublesOut>(std::move(list.scores)),
                                   give_networks(std::move(list.parents), lattice_of(held).n_variables()), list.counts);
        },
        "lattice"_a, "what"_a, "most"_a, "lowest"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "finished, floor, scores, parents by network, counts.");
    m.def(
        "count_above",
        [](const Held& held, Listed what, double lowest, int threads, std::optional<double> seconds, nb::object on_tick) {
            Count count = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) { return count_above(lattice_of(held), what, lowest - offset_of(held), threads, limits); });
            return std::make_tuple(count.finished, count.counts);
        },
        "lattice"_a, "what"_a, "lowest"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "finished, counts: when not finished, of what was found so far.");
    m.def(
        "open_stream",
        [](const Held& held, double lowest, int threads, std::optional<double> seconds,
           nb::object on_tick) -> std::unique_ptr<NetworkStream> {
            const auto& lattice = lattice_of(held);
            const double threshold = std::max(lowest - offset_of(held), lattice.lowest());
            FamilyTable families = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                return families_reaching(lattice, threshold, threads, limits);
            });
            if (families.empty()) return nullptr;
            using Stream = StreamFrom<std::remove_cvref_t<decltype(lattice)>>;
            return std::make_unique<Stream>(lattice, std::move(families), threshold, offset_of(held));
        },
        "lattice"_a, "lowest"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(), nb::keep_alive<0, 1>(),
        "None when stopped.");
}

}  // namespace topdag
