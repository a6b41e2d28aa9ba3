// branching.cpp
#include "cycles/branching.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/parallel.h"

namespace topdag {

namespace {

constexpr std::size_t cases_a_round = 64;
constexpr std::uint64_t steps_a_case = 64;   // before what is left of a case goes back into the queue
constexpr std::uint64_t cases_a_dive = 16;   // one of so many cases is followed down to a network,
constexpr std::uint64_t steps_a_dive = 1024; // for so many steps at most

// A case being taken up by one thread, and what came of it.
struct Work {
    std::vector<Case> stack;  // the next one last
    std::vector<Case> open;   // for the queue
    double cost;              // of the best network known
    std::vector<VarSet> parents;
    std::uint64_t steps = 0;
    std::uint64_t networks = 0;
};

// How far cases are followed before they go back: up to a cost of `level`, and `dives` down to a network.
struct Reach {
    double level;
    bool dives;
    std::uint64_t most_steps;
};

class Explorer {
public:
    explicit Explorer(const CaseSplitter& splitter) : splitter_(splitter) {}

    void explore(Work& work, const Reach& reach, Limits& limits) const {
        while (!work.stack.empty() && work.steps < reach.most_steps && !limits.reached()) {
            const Case next = std::move(work.stack.back());
            work.stack.pop_back();
            if (next.cost < work.cost) take_up(next, work, reach);
        }
    }

private:
    void take_up(const Case& c, Work& work, const Reach& reach) const {
        ++work.steps;
        const std::vector<Split> splits = splitter_.splits(c);
        if (splits.empty()) {
            ++work.networks;
            work.cost = c.cost;
            work.parents = splitter_.chosen_parents(c);
            return;
        }
        keep(splitter_.parts(c, CaseSplitter::dearest(splits)), work, reach);
    }

    // The cheapest comes next where the case is followed; what lies beyond the level waits.
    static void keep(std::vector<Case> cases, Work& work, const Reach& reach) {
        std::stable_sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.cost > b.cost; });
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (cases[i].cost >= work.cost) continue;
            const bool is_followed = cases[i].cost <= reach.level || (reach.dives && i + 1 == cases.size());
            (is_followed ? work.stack : work.open).push_back(std::move(cases[i]));
        }
    }

    const CaseSplitter& splitter_;
};

// Cases by cost, then by the order in which they came.
class Waiting {
public:
    bool empty() const { return heap_.empty(); }
    double least_cost() const { return heap_.front().first.cost; }
    std::size_t bytes() const { return bytes_; }

    void push(Case c) {
        bytes_ += c.bytes();
        heap_.emplace_back(std::move(c), number_++);
        std::push_heap(heap_.begin(), heap_.end(), is_later);
    }

    Case pop() {
        std::pop_heap(heap_.begin(), heap_.end(), is_later);
        Case c = std::move(heap_.back().first);
        heap_.pop_back();
        bytes_ -= c.bytes();
        return c;
    }

private:
    using Numbered = std::pair<Case, std::uint64_t>;

    static bool is_later(const Numbered& a, const Numbered& b) {
        return a.first.cost != b.first.cost ? a.first.cost > b.first.cost : a.second > b.second;
    }

    std::vector<Numbered> heap_;
    std::size_t bytes_ = 0;
    std::uint64_t number_ = 0;
};

class Branching {
public:
    Branching(const Candidates& candidates, const CaseRules& rules, const BranchingQuestion& question, Limits& limits)
        : candidates_(candidates), question_(question), limits_(limits), splitter_(candidates, rules),
          explorer_(splitter_) {
        result_.cost = question.upper;
        if (std::optional<Case> all = splitter_.everything()) waiting_.push(std::move(*all));
    }

    BranchingResult run() {
        limits_.begin(Phase::searching, 0);
        tell();
        while (result_.bound < result_.cost && result_.steps < question_.most_steps && !limits_.reached()) {
            round();
            tell();
        }
        result_.finished = result_.bound >= result_.cost;
        return std::move(result_);
    }

private:
    // Bound and best network, true at this moment.
    void tell() {
        double least = waiting_.empty() ? Candidates::no_family : waiting_.least_cost();
        for (const Case& c : newest_) least = std::min(least, c.cost);
        result_.bound = std::min(least, result_.cost);
        limits_.done.store(result_.steps);
        const double most = candidates_.best_possible();
        limits_.bound.store(most - result_.bound);
        if (result_.cost < Candidates::no_family) limits_.best.store(most - result_.cost);
    }

    void round() {
        const bool is_full = waiting_.bytes() >= question_.most_bytes;
        std::vector<Work> works = taken();
        double level = is_full ? Candidates::no_family : 0.0;
        for (const Work& work : works) level = std::max(level, work.stack.back().cost);
        const std::uint64_t left = std::max<std::uint64_t>(1, (question_.most_steps - result_.steps) / works.size());
        const Reach near{level, false, std::min(steps_a_case, left)}, deep{level, true, std::min(steps_a_dive, left)};
        const std::uint64_t first = n_taken_;
        n_taken_ += works.size();
        parallel_for(works.size(), limits_, [&](std::size_t i, int) {
            explorer_.explore(works[i], (first + i) % cases_a_dive == 0 ? deep : near, limits_);
        });
        for (Work& work : works) merge(std::move(work), is_full);
    }

    // The next cases: those that came last where memory is short, else those that cost least.
    std::vector<Work> taken() {
        std::vector<Work> works;
        while (works.size() < cases_a_round && !(newest_.empty() && waiting_.empty())) {
            Work work;
            work.cost = result_.cost;
            if (newest_.empty()) {
                work.stack.push_back(waiting_.pop());
            } else {
                work.stack.push_back(std::move(newest_.back()));
                newest_.pop_back();
            }
            works.push_back(std::move(work));
        }
        return works;
    }

    void merge(Work work, bool is_full) {
        result_.steps += work.steps;
        result_.networks += work.networks;
        if (work.cost < result_.cost) {
            result_.cost = work.cost;
            result_.parents = std::move(work.parents);
        }
        for (std::vector<Case>* cases : {&work.open, &work.stack})
            for (Case& c : *cases)
                if (c.cost < result_.cost) keep(std::move(c), is_full);
        result_.bytes = std::max(result_.bytes, waiting_.bytes());
    }

    void keep(Case c, bool is_full) {
        ++result_.made;
        if (is_full)
            newest_.push_back(std::move(c));
        else
            waiting_.push(std::move(c));
    }

    const Candidates& candidates_;
    const BranchingQuestion& question_;
    Limits& limits_;
    CaseSplitter splitter_;
    Explorer explorer_;
    Waiting waiting_;
    std::vector<Case> newest_;
    std::uint64_t n_taken_ = 0;
    BranchingResult result_;
};

}  // namespace

BranchingResult branch_on_cycles(const Candidates& candidates, const CaseRules& rules,
                                 const BranchingQuestion& question, Limits& limits) {
    return Branching(candidates, rules, question, limits).run();
}

std::vector<Case> finished_cases(const Candidates& candidates, const CaseRules& rules) {
    const CaseSplitter splitter(candidates, rules);
    std::vector<Case> open, finished;
    if (std::optional<Case> all = splitter.everything()) open.push_back(std::move(*all));
    while (!open.empty()) {
        Case c = std::move(open.back());
        open.pop_back();
        const std::vector<Split> splits = splitter.splits(c);
        if (splits.empty()) {
            finished.push_back(std::move(c));
            continue;
        }
        for (Case& own : splitter.parts(c, CaseSplitter::dearest(splits))) open.push_back(std::move(own));
    }
    return finished;
}

}  // namespace topdag
