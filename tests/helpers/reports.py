"""Reports in tests: small examples, and a page that is checked and read."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np

from microagg_gpu.report import page

EVIL = ["<script>alert(1)</script>", "\"quoted\" & 'single'", "</style></svg>", "a\x00&amp;b"]
SECTIONS = [
    "What was done",
    "Risk before and after",
    "Utility",
    "Variables",
    "Correlations",
    "For analysts",
    "Groups",
    "Alternatives",
    "How to read this",
]
VERDICT = {
    "word": "PARTLY",
    "sentence": "k = 5 holds for <some> columns only.",
    "k": 5,
    "below": 12,
    "columns": ["region", "x", "y"],
    "others": ["size & more"],
    "unchanged": ["region", "size & more"],
}


def by_centroids(points, labels):
    group = np.unique(labels, return_inverse=True)[1]
    members = np.split(np.argsort(group), np.cumsum(np.bincount(group))[:-1])
    return np.array([points[part].mean(axis=0) for part in members])[group]


def simulated(n, p, k=5, seed=0):
    """Records, groups of k in the order of the first variable, and what is published."""
    rng = np.random.default_rng(seed)
    points = np.exp(rng.standard_normal((n, p)) @ rng.uniform(0, 1, (p, p)))
    labels = np.empty(n, dtype=int)
    labels[np.argsort(points[:, 0])] = np.minimum(np.arange(n) // k, n // k - 1)
    return points, labels, by_centroids(points, labels)


class Document(HTMLParser):
    """Checks that tags are balanced; keeps tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text, self.headings = [], set(), [], [], []
        self.levels, self.tables, self.captions = [], 0, 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag not in ("meta", "br", "link", "img", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def checked(content, make=page, sections=SECTIONS):
    """The page of a content after a round trip through JSON, as a document."""
    text = make(json.loads(json.dumps(content, allow_nan=False)))
    document = Document(text)
    assert document.headings == sections
    assert document.levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(document.levels))
    assert document.captions == document.tables
    assert document.tags.isdisjoint({"script", "link", "img", "iframe", "object", "base"})
    for name, value in document.attributes:
        assert name not in ("src", "srcset", "action", "data")
        assert not name.startswith("on")
        if name == "href":
            assert value.startswith("#")
    assert "http" not in text
    assert "url(" not in text
    assert "@import" not in text
    for word in ("nan", "inf", "None", "NaN"):
        assert not re.search(rf"\b{word}\b", " ".join(document.text)), word
    return document
