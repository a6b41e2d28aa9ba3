// run_limits.h: how long a loop may go on, and what it tells about itself while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace topdag {

enum class Phase : int { waiting, counting, sweeping, ordering, bounding, listing, searching, relaxing, summing };

// Shared by the threads of one computation and by whoever watches it.
struct Limits {
    using Clock = std::chrono::steady_clock;

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

    // True once the deadline has passed or somebody asked to stop; stays true.
    bool reached() {
        if (stop.load(std::memory_order_relaxed)) return true;
        if (!deadline || Clock::now() < *deadline) return false;
        stop.store(true, std::memory_order_relaxed);
        return true;
    }
};

}  // namespace topdag
