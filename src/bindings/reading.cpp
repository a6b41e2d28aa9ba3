// reading.cpp: texts cut into cells.
#include "binding.h"
#include "reading/text_cells.h"

namespace topdag {

using CodesOut = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using PlacesOut = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using ColumnOut = std::tuple<CodesOut, PlacesOut, PlacesOut>;

void bind_reading(nb::module_& m) {
    m.def(
        "cut_into_cells",
        [](nb::bytes text, std::size_t begin, char separator, const std::vector<bool>& wanted,
           int threads) -> std::optional<std::pair<std::vector<ColumnOut>, PlacesOut>> {
            const std::string_view view(text.c_str(), text.size());
            require(!wanted.empty() && threads >= 1, "a line has one cell at least, and a thread reads it");
            require(begin <= view.size(), "the text must reach to where its cells begin");
            require(view.empty() || view.back() == '\n', "the text must end with a line end");
            std::optional<TextCells> found;
            {
                nb::gil_scoped_release released;
                found = cut_into_cells(view, begin, separator, wanted, threads);
            }
            if (!found) return std::nullopt;
            std::vector<ColumnOut> columns;
            for (TextColumn& column : found->columns)
                columns.emplace_back(give(std::move(column.codes)),
                                     give(std::move(column.begins)),
                                     give(std::move(column.ends)));
            return std::pair(std::move(columns), give(std::move(found->lines)));
        },
        "text"_a, "begin"_a, "separator"_a, "wanted"_a, "threads"_a,
        "For each column the code of every row, and where each distinct text begins and ends; the lines of the rows.");
}

}  // namespace topdag
