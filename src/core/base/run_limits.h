// run_limits.h: how long a loop may go on, with how many threads, and what it tells about itself while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace topdag {

enum class Phase : int { waiting, counting, sweeping, ordering, bounding, listing, searching, summing };

// What limits are read from: real time. Tests may have its readings counted instead: then each moves it on by a second,
// so that with one thread a limit comes at the same place of the work every time, however busy the machine is.
struct RunClock {
    using duration = std::chrono::steady_clock::duration;
    using time_point = std::chrono::steady_clock::time_point;

    static inline std::atomic<std::int64_t> readings{-1};  // negative: they are not counted

    static bool is_counted() { return readings.load(std::memory_order_relaxed) >= 0; }
    static time_point now() {
        return is_counted() ? time_point(std::chrono::seconds(++readings)) : std::chrono::steady_clock::now();
    }
};

inline double seconds_since(RunClock::time_point begin) {
    return std::chrono::duration<double>(RunClock::now() - begin).count();
}

// Shared by the threads of one computation and by whoever watches it.
struct Limits {
    using Clock = RunClock;

    explicit Limits(int n_threads = 1) : threads(n_threads) {}

    int threads;  // how many may share the work
    std::optional<Clock::time_point> deadline;
    std::atomic<bool> stop{false};
    std::atomic<Phase> phase{Phase::waiting};
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> total{0};
    // The best score found so far and what none can exceed; not a number while unknown.
    std::atomic<double> best{std::numeric_limits<double>::quiet_NaN()};
    std::atomic<double> bound{std::numeric_limits<double>::quiet_NaN()};

    void begin(Phase next, std::uint64_t steps) {
        phase.store(next);
        done.store(0);
        total.store(steps);
    }

    // Whether a loop that looks at the clock once in so many steps does so at this one; at every one, where readings
    // are counted: small work can be stopped anywhere, too.
    static bool looks_at(std::uint64_t step, std::uint64_t steps_between_looks) {
        return step % steps_between_looks == 0 || Clock::is_counted();
    }

    // True once the deadline has passed or somebody asked to stop; stays true.
    bool reached() {
        if (stop.load(std::memory_order_relaxed)) return true;
        if (!deadline || Clock::now() < *deadline) return false;
        stop.store(true, std::memory_order_relaxed);
        return true;
    }
};

}  // namespace topdag
