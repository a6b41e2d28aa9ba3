// linear_extensions.h: in how many orders of the variables every parent comes before its children.
//
// For W with the order that paths impose on it: if W falls into parts that no path joins, their orders interleave freely,
// else some minimal (or maximal) variable comes first (last), e(W) = sum over them of e(W - v) [Kangas et al. 2016].
// Values are kept by set. The side with fewer choices is taken at every step.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/big_count.h"
#include "base/var_set.h"

namespace topdag {

// Of an acyclic network of up to 64 variables; nothing when more than `most_sets` values would have to be kept.
std::optional<BigCount> linear_extensions(const std::vector<VarSet>& parents, std::size_t most_sets);

}  // namespace topdag
