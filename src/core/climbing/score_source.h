// score_source.h: where climbing gets local scores from: counts of the data, or whoever is asked for them.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "base/var_set.h"

namespace topdag {

template <class Set>
class ScoreSource {
public:
    // Worse than any score, yet sums of such numbers stay useful.
    static constexpr double hopeless = -1e12;

    virtual ~ScoreSource() = default;
    // The local score of x with these parents.
    virtual double score(int x, Set parents) = 0;
    // That of x with these parents and one more, for each of `more`.
    virtual void scores_with_one_more(int x, Set parents, Set more, std::vector<double>& scores) = 0;
    // What was done so far, in additions of about 32 numbers at once.
    double work() const { return work_; }

protected:
    double work_ = 0.0;
};

// One family at a time, each `work` whatever it takes.
template <class Set>
class AskedScores : public ScoreSource<Set> {
public:
    using Ask = std::function<double(int, Set)>;

    AskedScores(Ask ask, double work) : ask_(std::move(ask)), work_of_one_(work) {}

    double score(int x, Set parents) override {
        this->work_ += work_of_one_;
        return std::max(this->hopeless, ask_(x, parents));
    }
    void scores_with_one_more(int x, Set parents, Set more, std::vector<double>& scores) override {
        for (; more != 0; more &= more - 1) {
            const int p = first_of(more);
            scores[p] = score(x, parents | only<Set>(p));
        }
    }

private:
    Ask ask_;
    double work_of_one_;
};

}  // namespace topdag
