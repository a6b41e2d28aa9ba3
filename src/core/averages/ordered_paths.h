// ordered_paths.h: who descends from whom, summed over the networks that agree with a precedence (precedence.h).
//
// What comes before a variable counts as a parent of it for circles, but not for paths, so network_sums.h will not do.
// For one s the state is (N, D) as in order_ancestors.h: N has been placed and does not descend from s, D has and does, s
// included. With U = N + D and any set R of variables that can follow U, each v of R joins
//   N with weight z_v(N), having no parent in D, or D with weight z_v(U) - z_v(N);
// s itself joins when D is empty. g(N, D) is the sum of all that leads there, with the sign (-1)^(|R|+1): R is a set of
// variables without children, as in prefix_sums.h. P(s is an ancestor of t) = sum over D with t of g(V - D, D), over
// alpha(V).
// 5^(n-1) steps for each s without a precedence, fewer with one [Chen, Meng & Tian 2015].
#pragma once

#include <vector>

#include "base/run_limits.h"
#include "families/local_scores.h"

namespace topdag {

struct OrderedPaths {
    bool finished = false;
    std::vector<double> paths;  // P(s is an ancestor of t) at [s * n + t]
    double defect = 0.0;        // how far sums that must be 1 are from it, at most
};

// Some network must be allowed.
OrderedPaths ordered_paths(const LocalScores& scores, Limits& limits);

double ordered_paths_bytes(int n, int threads);

}  // namespace topdag
