"""The words of find.md as index entries of the pages that they lead to, so that the search of the site finds these pages first."""

import re

FIND = "find.md"


def slug(title: str) -> str:
    """The anchor of a heading: lower case, with hyphens."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def headings(text: str) -> list[tuple[int, str]]:
    """The lines (from 0) of the headings of a page and their titles; comments in code are none."""
    found, code = [], False
    for k, line in enumerate(text.splitlines()):
        code ^= line.startswith("```")
        if not code and (title := re.match(r"#+ (.+)", line)):
            found.append((k, title[1]))
    return found


def rows(text: str) -> list[tuple[str, list[str], str]]:
    """The heading above each row of find.md, the words of the row and its second cell."""
    lines, out, above = text.splitlines(), [], ""
    titles = dict(headings(text))
    for k, line in enumerate(lines):
        above = titles.get(k, above)
        if (row := re.fullmatch(r"\| ([^|]+) \| (.*) \|", line)) and row[1] != "word":
            out.append((above, row[1].split(", "), row[2]))
    return out


def has(text: str, word: str) -> bool:
    """Whether a page has the beginnings of all parts of a word or phrase; parts in capitals are compared with their case."""
    parts = [part for part in re.findall(r"\w+", word) if len(part) > 2]
    return all(part[:6] in text or (part != part.upper() and part[:6].lower() in text.lower()) for part in parts)


def places(text: str, pages: dict[str, str]) -> dict[tuple[str, str], list[str]]:
    """The words by page and anchor: the first link of their row if that page has the word, otherwise the heading above the row."""
    found: dict[tuple[str, str], list[str]] = {}
    for above, words, cell in rows(text):
        page, anchor = re.search(r"\]\(([^)#\s]*)#?([^)\s]*)\)", cell).groups()
        for word in words:
            there = page in pages and has(pages[page], word)
            found.setdefault((page, anchor) if there else (FIND, slug(above)), []).append(word)
    return found


def plural(word: str) -> str:
    """A word or phrase with its last part in the plural."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    if word.endswith(("ss", "x", "ch", "sh")):
        return f"{word}es"
    return word if word.endswith("s") else f"{word}s"


def indexed(text: str, anchor: str, words: list[str]) -> str:
    """A page with index entries below the heading of this anchor (below its title if that is empty)."""
    lines = text.splitlines(keepends=True)
    line = next(k for k, title in headings(text) if anchor in ("", slug(title)))
    entries = ", ".join(f"! {form}" for word in words for form in dict.fromkeys((word, plural(word))))
    return "".join([*lines[: line + 1], f"\n```{{index}} {entries}\n```\n", *lines[line + 1 :]])


def put_words(pages: dict[str, str]) -> dict[str, str]:
    """All pages, by their paths, with the words of find.md in them."""
    out = dict(pages)
    for (page, anchor), words in places(pages[FIND], pages).items():
        out[page] = indexed(out[page], anchor, words)
    return out
