"""XML as a small tree whose elements know their lines, and texts made fit for XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from topdag.errors import FileError, NetworkError

NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
DEEPEST = 100


@dataclass
class Element:
    """``text`` is what stands directly in it, without blanks at its ends unless xml:space says to preserve them."""

    tag: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        whole = "".join(self.pieces)
        return whole if self.attributes.get("xml:space") == "preserve" else whole.strip()

    def all(self, *tags: str) -> Iterator[Element]:
        """The children with one of these tags, whatever the case of their letters."""
        return (child for child in self.children if child.tag.upper() in tags)

    def only(self, tag: str) -> Element:
        found = next(self.all(tag), None)
        if found is None:
            raise FileError(f"line {self.line}: <{self.tag}> has no <{tag}>; add one")
        return found


def xml_tree(content: bytes) -> Element:
    """The outermost element."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    open_elements = [Element("", 0, {})]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > DEEPEST:
            raise FileError(f"line {parser.CurrentLineNumber}: elements are nested deeper than any network needs")
        element = Element(tag, parser.CurrentLineNumber, attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def text_found(text: str) -> None:
        open_elements[-1].pieces.append(text)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.CharacterDataHandler = text_found
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FileError(f"line {error.lineno}: this is not XML: {expat.errors.messages[error.code]}") from None
    except (UnicodeError, LookupError, ValueError) as error:
        raise FileError(f"this is not XML in a known encoding: {error}") from None
    return open_elements[0].children[0]


def xml_element(tag: str, text: str) -> str:
    """An element that holds just this text."""
    require_xml(text)
    keep = "" if text == text.strip() else ' xml:space="preserve"'
    return f"<{tag}{keep}>{escape(text, {chr(13): '&#13;'})}</{tag}>"


def xml_attribute(text: str) -> str:
    require_xml(text)
    return quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def require_xml(text: str) -> None:
    if found := NOT_IN_XML.search(text):
        raise NetworkError(f"{text!r} cannot stand in XML, which knows no {found[0]!r}; .json holds any text.")
