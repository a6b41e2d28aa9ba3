// text_cells.h: a text cut into cells at a separator and at line ends, every column as its distinct texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace topdag {

// The distinct texts of a column, in the order in which they occur first, and for every row which of them it has.
struct TextColumn {
    std::vector<std::int32_t> codes;
    std::vector<std::int64_t> begins;  // places in the text; of a quoted cell what stands between its quotes
    std::vector<std::int64_t> ends;
};

struct TextCells {
    std::vector<TextColumn> columns;
    std::vector<std::int64_t> lines;  // the number of the line in which each row begins
};

// Cells may stand in quotes ("), in which a quote is doubled; such texts are told apart as they are written. Blanks
// before a quote do not count, and neither do lines of blanks. Nothing if a line has more or fewer cells, or a quote is
// not closed, followed by more or inside a cell: then a slower reader finds what to make of it. The text ends with a
// line end; what stands before ``begin`` is passed over, but for its lines, which count.
// Of columns that are not wanted nothing is kept. Each thread reads the text for columns of its own.
std::optional<TextCells> cut_into_cells(std::string_view text, std::size_t begin, char separator,
                                        const std::vector<bool>& wanted, int threads);

}  // namespace topdag
