// watching.cpp: long work in a thread of its own, watched from Python.
#include "binding.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace topdag {

namespace {

const char* phase_name(Phase phase) {
    switch (phase) {
        case Phase::waiting: return "starting";
        case Phase::counting: return "counting";
        case Phase::sweeping: return "sweeping";
        case Phase::ordering: return "ordering";
        case Phase::bounding: return "bounding";
        case Phase::listing: return "listing";
        case Phase::searching: return "searching";
        case Phase::summing: return "summing";
    }
    return "";
}

std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

// Whether somebody asked to stop.
bool tick(Limits& limits, const nb::object& on_tick) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (on_tick.is_none()) return false;
    const nb::object stops = on_tick(phase_name(limits.phase.load()), limits.done.load(), limits.total.load(),
                                     known(limits.best.load()), known(limits.bound.load()));
    return nb::cast<bool>(nb::bool_(stops));
}

// Memory errors become topdag's own here: other extension modules in the process may translate C++'s in their way.
[[noreturn]] void raise_in_python(const std::exception_ptr& failure, Phase phase) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::bad_alloc& refused) {
        const auto* array = dynamic_cast<const NoRoom*>(&refused);
        const nb::object error = nb::module_::import_("topdag._util.memory")
                                     .attr("out_of_memory")(phase_name(phase), array == nullptr ? 0 : array->bytes);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
        throw nb::python_error();
    }
}

}  // namespace

void run_watched(const Watch& watch, const std::function<void(Limits&)>& work) {
    Limits limits(watch.threads);
    if (watch.seconds) {
        const std::chrono::duration<double> seconds(std::clamp(*watch.seconds, 0.0, 1e9));
        limits.deadline = Limits::Clock::now() + std::chrono::duration_cast<Limits::Clock::duration>(seconds);
    }
    std::exception_ptr failure;
    std::mutex lock;
    std::condition_variable ended;
    bool is_done = false;
    std::thread worker([&] {
        try {
            work(limits);
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard guard(lock);
        is_done = true;
        ended.notify_one();
    });
    std::exception_ptr raised;
    {
        nb::gil_scoped_release released;
        std::unique_lock guard(lock);
        while (!ended.wait_for(guard, std::chrono::milliseconds(50), [&] { return is_done; })) {
            if (raised) continue;
            guard.unlock();
            {
                nb::gil_scoped_acquire acquired;
                try {
                    if (tick(limits, watch.on_tick)) limits.stop.store(true);
                } catch (nb::python_error&) {
                    limits.stop.store(true);
                    raised = std::current_exception();
                }
            }
            guard.lock();
        }
        guard.unlock();
        worker.join();
    }
    if (raised) std::rethrow_exception(raised);
    if (failure) raise_in_python(failure, limits.phase.load());
}

}  // namespace topdag
