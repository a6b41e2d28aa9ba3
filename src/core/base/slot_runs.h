// slot_runs.h: how tables over all sets are read by the slots of a variable x (local_scores.h). Slots come in runs of
// 2^x that are neighbours as sets too; between two runs as many sets, those with x, are passed over.
#pragma once

#include <cstddef>

namespace topdag {

// Calls act(slot, set) for `count` slots, both counted from the first; `run` divides count. Always becomes part of the
// function that calls it, compiled for the same processors. Short runs have loops of a known length, which the compiler
// can lay side by side.
template <class Act>
[[gnu::always_inline]] inline void for_each_in_runs(std::size_t run, std::size_t count, Act&& act) {
    if (run == 1) {
        for (std::size_t slot = 0; slot < count; ++slot) act(slot, 2 * slot);
    } else if (run == 2) {
        for (std::size_t slot = 0; slot < count; slot += 2)
            for (std::size_t i = 0; i < 2; ++i) act(slot + i, 2 * slot + i);
    } else if (run == 4) {
        for (std::size_t slot = 0; slot < count; slot += 4)
            for (std::size_t i = 0; i < 4; ++i) act(slot + i, 2 * slot + i);
    } else {
        for (std::size_t slot = 0; slot < count; slot += run)
            for (std::size_t i = 0; i < run; ++i) act(slot + i, 2 * slot + i);
    }
}

}  // namespace topdag
