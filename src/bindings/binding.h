// binding.h: what the bindings share: arrays in and out, and long work watched from Python.
//
// Long work runs in a thread of its own without the interpreter lock, while the calling thread watches for Ctrl-C and
// reports progress. No algorithm lives here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/big_array.h"
#include "base/big_count.h"
#include "base/run_limits.h"
#include "base/table.h"
#include "families/candidates.h"
#include "families/local_scores.h"
#include "lattice/lattice.h"
#include "orders/bounds.h"

namespace topdag {

namespace nb = nanobind;
using namespace nb::literals;

// Each file of this folder adds its part to the module.
void bind_scores(nb::module_& m);
void bind_lattice(nb::module_& m);
void bind_lists(nb::module_& m);
void bind_classes(nb::module_& m);
void bind_pruned_scores(nb::module_& m);
void bind_relaxation(nb::module_& m);
void bind_order_search(nb::module_& m);
void bind_block_lattice(nb::module_& m);
void bind_sparse_lattice(nb::module_& m);
void bind_ideal_lattice(nb::module_& m);
void bind_order_prior(nb::module_& m);
void bind_prior_search(nb::module_& m);
void bind_sums(nb::module_& m);
void bind_sampling(nb::module_& m);
void bind_branching(nb::module_& m);
void bind_path_flow(nb::module_& m);
void bind_gaussian_sets(nb::module_& m);
void bind_reading(nb::module_& m);

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoublesIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoublesOut = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Codes = nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Masks = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MasksOut = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline constexpr int lattice_limit = 30;  // the core's masks of positions hold no more; what fits in memory is asked before

inline DoublesOut give(BigArray values) {
    auto* owned = new BigArray(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<BigArray*>(p); });
    return DoublesOut(owned->data(), {owned->size()}, owner);
}

template <class T, class Out>
Out give_vector(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out(owned->data(), {owned->size()}, owner);
}

inline nb::int_ give_count(const BigCount& count) {
    return nb::steal<nb::int_>(PyLong_FromString(count.hexadecimal().c_str(), nullptr, 16));
}

using NetworksOut = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<2>>;

inline NetworksOut give_networks(std::vector<VarSet> masks, std::size_t n) {
    auto* owned = new std::vector<VarSet>(std::move(masks));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<VarSet>*>(p); });
    return NetworksOut(owned->data(), {owned->size() / n, n}, owner);
}

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// Coded columns, checked once so that the core may trust them.
struct PyTable {
    Codes codes;
    Weights weights;
    Table view;

    PyTable(Codes codes_in, const std::vector<int>& arities, Weights weights_in)
        : codes(std::move(codes_in)), weights(std::move(weights_in)) {
        const std::size_t n = codes.shape(0);
        const std::size_t rows = codes.shape(1);
        require(n >= 1 && rows >= 1, "a table needs a column and a row");
        require(arities.size() == n && weights.shape(0) == rows, "arities and weights must fit the codes");
        view.arities = arities;
        view.weights = weights.data();
        view.n_distinct = rows;
        for (std::size_t v = 0; v < n; ++v) {
            const std::uint16_t* column = codes.data() + v * rows;
            for (std::size_t row = 0; row < rows; ++row) require(column[row] < arities[v], "a code is not below its arity");
            view.columns.push_back(column);
        }
        for (std::size_t row = 0; row < rows; ++row) {
            require(weights.data()[row] > 0, "weights must be positive");
            view.n_rows += weights.data()[row];
        }
        require(view.n_rows <= 0xffffffffULL, "more than 4,294,967,295 rows");
    }
};

// Any form of local scores, with the arrays it looks into kept alive.
struct PyScores {
    std::vector<nb::object> kept;
    std::unique_ptr<LocalScores> scores;
};

// Bounds are shared: the largest of several holds them too.
using BoundPtr = std::shared_ptr<const Bound>;
struct PyBound {
    BoundPtr bound;
    int n;
};

// F, H and best in memory.
struct PyLattice {
    std::unique_ptr<Lattice> lattice;
};

// How one computation is limited and watched.
struct Watch {
    double seconds_left;  // negative: no limit
    nb::object on_tick;   // called as on_tick(phase, done, total, best, bound), says whether to stop; or None
};

// Runs work(limits) in a thread of its own; every 50 ms the interpreter may handle signals and report progress.
// When on_tick says so the work stops as when its time is up; an exception stops it and is raised in place of its result.
void run_watched(const Watch& watch, const std::function<void(Limits&)>& work);

template <class Work>
auto watched(const Watch& watch, Work&& work) {
    std::optional<std::invoke_result_t<Work&, Limits&>> result;
    run_watched(watch, [&](Limits& limits) { result.emplace(work(limits)); });
    return std::move(*result);
}

inline Watch watch_of(std::optional<double> seconds_left, nb::object on_tick) {
    return {seconds_left ? std::max(0.0, *seconds_left) : -1.0, std::move(on_tick)};
}

using MaybeArray = std::optional<DoublesOut>;

template <class Fill>
MaybeArray filled(const Watch& watch, std::size_t size, Fill&& fill) {
    BigArray values = watched(watch, [&](Limits& limits) {
        BigArray array(size);
        return fill(limits, array.data()) ? std::move(array) : BigArray();
    });
    if (values.size() == 0) return std::nullopt;
    return give(std::move(values));
}

}  // namespace topdag
