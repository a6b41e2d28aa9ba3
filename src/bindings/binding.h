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
#include "families/local_scores.h"
#include "orders/bounds.h"

namespace topdag {

namespace nb = nanobind;
using namespace nb::literals;

// Each file of this folder adds its part to the module.
void bind_scores(nb::module_& m);
void bind_lattices(nb::module_& m);
void bind_classes(nb::module_& m);
void bind_pruned_scores(nb::module_& m);
void bind_relaxation(nb::module_& m);
void bind_order_search(nb::module_& m);
void bind_order_prior(nb::module_& m);
void bind_partial_networks(nb::module_& m);
void bind_sums(nb::module_& m);
void bind_sampling(nb::module_& m);
void bind_branching(nb::module_& m);
void bind_gaussian_sets(nb::module_& m);
void bind_node_averages(nb::module_& m);
void bind_margins(nb::module_& m);
void bind_reading(nb::module_& m);
void bind_climbing(nb::module_& m);

template <class T>
using ArrayIn = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using ArrayOut = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using RowsOut = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
using Doubles = ArrayIn<double>;
using DoublesIn = ArrayIn<const double>;
using DoublesOut = ArrayOut<double>;
using Codes = nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = ArrayIn<const std::uint32_t>;
using Masks = ArrayIn<const std::uint64_t>;
using MasksOut = ArrayOut<std::uint64_t>;
using Offsets = ArrayIn<const std::int64_t>;

// Python owns the values from here on; nothing is copied.
template <class Values>
std::pair<Values*, nb::capsule> given_to_python(Values values) {
    auto* owned = new Values(std::move(values));
    return {owned, nb::capsule(owned, [](void* p) noexcept { delete static_cast<Values*>(p); })};
}

template <class Values>
auto give(Values values) {
    const auto [owned, owner] = given_to_python(std::move(values));
    return ArrayOut<std::remove_pointer_t<decltype(owned->data())>>(owned->data(), {owned->size()}, owner);
}

// As many rows as there are of this width.
template <class T>
RowsOut<T> give_rows(std::vector<T> values, std::size_t width) {
    const auto [owned, owner] = given_to_python(std::move(values));
    return RowsOut<T>(owned->data(), {owned->size() / width, width}, owner);
}

// A result's own values as a property of it, which keeps the result alive; nothing is copied.
template <class Result, class Owner, class T>
auto array_of(std::vector<T> Owner::*values) {
    return [values](Result& result) { return ArrayOut<T>((result.*values).data(), {(result.*values).size()}); };
}

inline nb::int_ give_count(const BigCount& count) {
    return nb::steal<nb::int_>(PyLong_FromString(count.hexadecimal().c_str(), nullptr, 16));
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

// A bound for so many variables.
struct PyBound {
    std::unique_ptr<Bound> bound;
    int n;
};

// How one computation is limited and watched: Limits in Python.
struct Watch {
    int threads = 1;
    std::optional<double> seconds;
    nb::object on_tick = nb::none();  // on_tick(phase, done, total, best, bound) says whether to stop; or None
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
