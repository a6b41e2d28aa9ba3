"""What would follow if a variable were set: the largest effects with their intervals, below what is assumed."""

from __future__ import annotations

import math

from topdag.answers.effects import CausalEffects, Effect
from topdag.networks.drawing.svg import shown
from topdag.report.gathered import Gathered, Missing
from topdag.report.markup import Html, details, named, number, paragraph, percent, scroller, section, table, tag

MOST_DRAWN, MOST_LISTED = 15, 100
ROW, LEFT, RIGHT, LONGEST = 22, 190, 420, 26
"""Pixels of a row, of the names and of the intervals; letters of a name."""
EFFECT_HEAD = ("Cause", "Outcome", "Effect", "From", "To", "No effect", "Supported", "What it is")


def effects_section(found: Gathered) -> Html:
    title = "What would follow if a variable were set?"
    effects = found.effects
    if isinstance(effects, Missing):
        return section("effects", title, paragraph(f"There are no effects here, because {effects.reason}."))
    if not len(effects):
        return section("effects", title, paragraph("There is only one variable, so there are no effects."))
    return section(
        "effects",
        title,
        paragraph(tag("strong", "Read this first. "), effects.assumed, class_="note"),
        paragraph(
            "Setting is not seeing: a barometer tells of the storm, but turning its needle brings none. In each "
            "network the parents of the cause are adjusted for, and networks count by how well they fit."
        ),
        _picture(effects),
        _table(effects),
        paragraph(". ".join(line[:1].upper() + line[1:] for line in effects.said[:-1]) + ".", class_="muted"),
    )


def _picture(effects: CausalEffects) -> Html:
    """The largest, each as a point on its interval; the line at zero means no effect."""
    rows = effects.ranked[:MOST_DRAWN]
    ends = [end * e.scale for e in rows for end in (e.value, e.lower, e.upper, 0.0) if not math.isnan(end)]
    least, most = min(ends), max(ends)
    width = (most - least) or 1.0

    def at(value: float) -> str:
        return f"{LEFT + 10 + (value - least) / width * (RIGHT - 20):.1f}"

    drawn = [tag("line", x1=at(0.0), x2=at(0.0), y1=0, y2=ROW * len(rows), stroke="currentColor", opacity=0.4)]
    for place, effect in enumerate(rows):
        y = ROW * place + ROW // 2
        said = f"{_short(effect.cause)} → {_short(effect.outcome)}"
        drawn.append(tag("text", said, x=LEFT, y=y + 4, text_anchor="end", font_size=12, fill="currentColor"))
        if not math.isnan(effect.lower):
            begin, end = at(effect.lower * effect.scale), at(effect.upper * effect.scale)
            drawn.append(tag("line", x1=begin, x2=end, y1=y, y2=y, stroke="currentColor", stroke_width=2))
        drawn.append(tag("circle", cx=at(effect.value * effect.scale), cy=y, r=4, fill="currentColor"))
    label = f"The {len(rows)} largest effects with their intervals; the numbers stand in the table below."
    size = f"0 0 {LEFT + RIGHT} {ROW * len(rows)}"
    picture = tag("svg", *drawn, viewBox=size, width=LEFT + RIGHT, height=ROW * len(rows), role="img", aria_label=label)
    of_numbers = [not effect.distributions for effect in rows]
    in_deviations = ", in standard deviations" if all(of_numbers) else ", those on numbers in standard deviations"
    in_deviations = in_deviations if any(of_numbers) else ""
    caption = tag("figcaption", f"The largest effects{in_deviations}; the upright line is no effect.")
    return tag("figure", scroller("Picture; scrolls when it is wide", picture), caption)


def _short(name: str) -> str:
    whole = shown(name)
    return whole if len(whole) <= LONGEST // 2 else whole[: LONGEST // 2 - 1] + "…"


def _table(effects: CausalEffects) -> Html:
    rows = effects.ranked[:MOST_LISTED]
    return details(f"The {len(rows)} largest, in numbers", table("Effects", EFFECT_HEAD, map(_row, rows)))


def _row(effect: Effect) -> Html:
    numbers = [number(value, 4) for value in (effect.value, effect.lower, effect.upper)]
    shares = ["unknown" if share is None else percent(share) for share in (effect.no_effect, effect.supported)]
    return tag(
        "tr",
        tag("td", named(effect.cause)),
        tag("td", named(effect.outcome)),
        *(tag("td", text, class_="number") for text in (*numbers, *shares)),
        tag("td", effect.meaning),
    )
