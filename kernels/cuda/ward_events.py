"""The decisions of Ward's method, in order, which the host takes from what the device found.

The scheme is that of `cpu.ward_tree`: every group keeps a pair, the first that it could make when
it last looked; the first of all kept pairs is merged if its other group is as it was, else its
owner looks again. Either is an *event*, after which the owner has a new pair.

A batch foresees that the next events are those of the pairs kept now, in their order. Events in
which an owner is merged, or has already had one, are left out: its pair is no longer that. The
device searches for the new pairs of all events, each in the state that its event leaves behind. The
order was foreseen rightly up to the first event before which a new pair of an earlier event comes.
Events up to there are what the method does one after the other, whatever the numbers; the rest is
as if it had not been. Two owners may keep the same pair: whoever is first, the same groups merge.
"""

from typing import Any, NamedTuple

import numpy as np

from ..cpu.compiled import entry, inner

NONE = np.iinfo(np.int64).max  # no group
# Columns of `batch`, of the device's next work. Of each event its owner, or the lower group if two
# merge, the higher one, or -1; where their sums are and where that of both shall be; how many
# records they have; and how many events before it merge. Of each merger that is final: the place it
# takes in the tree, the one it leaves, the group, where its sum is, and its records.
OWNER, OTHER, ROW, OTHER_ROW, NEW_ROW, SIZE, BEFORE = range(7)
KEPT, FREED, MOVED, MOVED_ROW, MOVED_SIZE = range(7, 12)
COLUMNS = 12
WAYS = 4  # of a heap: entries below each
# What `state` holds: entries of the heap and of the front, the first of the front that counts,
# which of two fronts, groups of fewer than k records, groups, events of the batch, mergers among
# them, the batch, rows that are free, final mergers of the batch before; the last is never read.
HEAP, FRONT, FIRST, SIDE, SMALL, LIVE, EVENTS, MERGERS, BATCH, FREE, MOVES, FETCHED = range(12)
# A group and the pair that it keeps: small, since the host mostly waits for its memory.
GROUP = np.dtype(
    [
        ("rise", np.float64),  # of the pair it keeps, infinite if none
        ("near", np.int32),  # the other group of that pair
        ("near_size", np.int32),  # its records when the owner last looked
        ("size", np.int32),  # records, 0 of what is no longer a group
        ("row", np.int32),  # where its sum is
        ("place", np.int32),  # in the tree
        ("merged", np.int32),  # the last batch in which it is to be merged
        ("looked", np.int32),  # the last batch in which its pair has an event
    ],
    align=True,
)
# A pair, the group that keeps it first.
ENTRY = np.dtype([("rise", np.float64), ("owner", np.int32), ("near", np.int32)])


class Pairs(NamedTuple):
    """The groups and the pairs that they keep; a group is named by the order of lowest records."""

    group: Any  # (groups,) of GROUP
    into: Any  # (groups,) int64 the group it was merged into
    heap: Any  # (entries,) all pairs kept, but those at the front; some are no longer kept
    front: Any  # (2, entries) the first ones, in order; one is written from the other
    at: Any  # (most events,) int64 the entry of the front that each event is of
    free: Any  # (most events + groups,) int64 rows that are free
    state: Any  # (12,) int64


def make_pairs(size: np.ndarray, k: int, most: int) -> Pairs:
    """Groups of some sizes, and room for batches of as many events."""
    m = len(size)
    group = np.zeros(m, dtype=GROUP)
    group["size"], group["row"], group["rise"] = size, np.arange(m), np.inf
    state = np.zeros(12, dtype=np.int64)
    state[SMALL], state[LIVE], state[FREE] = np.count_nonzero(size < k), m, most
    return Pairs(
        group=group,
        into=np.arange(m),
        heap=np.empty(2 * m + most + 1, dtype=ENTRY),
        front=np.empty((2, 2 * m + most), dtype=ENTRY),
        at=np.zeros(most, dtype=np.int64),
        free=np.concatenate([np.arange(m, m + most), np.zeros(m, dtype=np.int64)]),
        state=state,
    )


@inner(forceinline=True)
def _before(entry, other):
    """The order of pairs: by rise, lower group, higher group."""
    if entry.rise != other.rise:
        return entry.rise < other.rise
    low, other_low = min(entry.owner, entry.near), min(other.owner, other.near)
    if low != other_low:
        return low < other_low
    return max(entry.owner, entry.near) < max(other.owner, other.near)


@inner(forceinline=True)
def _put(entries, at, entry):
    entries[at].rise = entry.rise
    entries[at].owner = entry.owner
    entries[at].near = entry.near


@inner(forceinline=True)
def _push(heap, count):
    """Put the last of so many entries in its place; there is room for it once more after it."""
    _put(heap, count, heap[count - 1])
    new, at = heap[count], count - 1
    while at > 0 and _before(new, heap[(at - 1) // WAYS]):
        _put(heap, at, heap[(at - 1) // WAYS])
        at = (at - 1) // WAYS
    _put(heap, at, new)


@inner(forceinline=True)
def _pop(heap, count):
    """Take the first entry out of a heap of so many."""
    last, at = heap[count - 1], 0
    while WAYS * at + 1 < count:
        below = WAYS * at + 1
        for other in range(below + 1, min(below + WAYS, count)):
            if _before(heap[other], heap[below]):
                below = other
        if not _before(heap[below], last):
            break
        _put(heap, at, heap[below])
        at = below
    _put(heap, at, last)


@inner(forceinline=True)
def _is_kept(pairs, entry):
    """Whether a group still keeps the pair of an entry."""
    own = pairs.group[entry.owner]
    return entry.rise == own.rise and entry.near == own.near


@inner(forceinline=True)
def _comes_between(pairs, entry):
    """Whether a pair that is kept comes before an entry; others leave the heap."""
    heap, state = pairs.heap, pairs.state
    while state[HEAP] > 0 and _before(heap[0], entry):
        if _is_kept(pairs, heap[0]):
            return True
        _pop(heap, state[HEAP])
        state[HEAP] -= 1
    return False


@inner(forceinline=True)
def _keep(pairs, owner, rise, near):
    """Let a group keep a pair."""
    own = pairs.group[owner]
    own.rise = rise
    if rise < np.inf:
        own.near = near
        own.near_size = pairs.group[near].size
        entry = pairs.heap[pairs.state[HEAP]]
        entry.rise, entry.owner, entry.near = rise, owner, near
        pairs.state[HEAP] += 1
        _push(pairs.heap, pairs.state[HEAP])


@entry()
def keep_all(pairs, owners, found):
    """Let groups keep the pairs that were found for them at first."""
    for e in range(len(owners)):
        _keep(pairs, owners[e], found[0, e], np.int64(found[1, e]))


@entry()
def advance(pairs, k, most, found, batch):
    """Take the events of a batch that were foreseen rightly, and foresee the next ones.

    Parameters
    ----------
    most : int
        Events of the next batch, at most.
    found : float64 array of shape (2, events)
        Rises and other groups of the pairs that the device found.
    batch : int64 array of shape (events, COLUMNS)
        The device's work: read, then written.

    Returns
    -------
    int
        How many events were foreseen rightly.
    """
    done = _settle(pairs, k, found, batch)
    _foresee(pairs, k, most, batch)
    return done


@inner(forceinline=True)
def _settle(pairs, k, found, batch):
    """Take events in order, up to the first before which a new pair comes."""
    state = pairs.state
    front = pairs.front[state[SIDE]]
    done, moves = 0, 0
    _fetch(pairs, found, state[EVENTS])
    for e in range(state[EVENTS]):
        at = pairs.at[e]
        if done > 0 and _comes_between(pairs, front[at]):
            break
        i = batch[e, OWNER]
        if batch[e, OTHER] >= 0:
            _merge(pairs, k, i, batch[e, OTHER], batch[e, NEW_ROW], batch[moves])
            moves += 1
        _keep(pairs, i, found[0, e], np.int64(found[1, e]))
        done += 1
        state[FIRST] = at + 1  # owners of what is before have new pairs
    for e in range(done, state[EVENTS]):
        if batch[e, OTHER] >= 0:
            _set_free(pairs, batch[e, NEW_ROW])
    state[MOVES] = moves
    return done


@inner(forceinline=True)
def _set_free(pairs, row):
    pairs.free[pairs.state[FREE]] = row
    pairs.state[FREE] += 1


@inner(forceinline=True)
def _merge(pairs, k, i, j, row, move):
    """Merge group j into group i, which takes the place of the larger of them in the tree."""
    a, b, state = pairs.group[i], pairs.group[j], pairs.state
    kept, freed = a.place, b.place
    if b.size > a.size:
        kept, freed = freed, kept
    state[SMALL] -= (a.size < k) + (b.size < k)
    a.size += b.size
    b.size = 0
    state[SMALL] += a.size < k
    state[LIVE] -= 1
    pairs.into[j] = i
    b.rise = np.inf
    a.place = kept
    _set_free(pairs, a.row)
    _set_free(pairs, b.row)
    a.row = row
    move[KEPT], move[FREED] = kept, freed
    move[MOVED], move[MOVED_ROW], move[MOVED_SIZE] = i, row, a.size


@inner(forceinline=True)
def _fetch(pairs, found, events):
    """Read what is needed soon: the memory of many groups comes sooner if nothing else waits."""
    records = 0
    for e in range(events):
        if found[0, e] < np.inf:
            records += pairs.group[np.int64(found[1, e])].size
    pairs.state[FETCHED] = records


@inner(forceinline=True)
def _foresee(pairs, k, most, batch):
    """The next events, as far as the pairs that are kept now tell."""
    state = pairs.state
    old, new = pairs.front[state[SIDE]], pairs.front[1 - state[SIDE]]
    state[BATCH] += 1
    state[EVENTS] = state[MERGERS] = 0
    small, read, written = state[SMALL], state[FIRST], 0
    while state[EVENTS] < most and small > 0:
        end, read = _take_first(pairs, old, read, new, written, most - state[EVENTS])
        if end == written:
            break
        for e in range(written, end):
            entry = new[e]
            if not _is_kept(pairs, entry):
                continue
            owner = entry.owner
            _put(new, written, entry)
            own = pairs.group[owner]
            if small > 0 and own.merged != state[BATCH] and own.looked != state[BATCH]:
                pairs.at[state[EVENTS]] = written
                small += _plan(pairs, k, owner, batch[state[EVENTS]])
                state[EVENTS] += 1
            written += 1
    while read < state[FRONT]:
        _put(new, written, old[read])
        read, written = read + 1, written + 1
    state[FRONT], state[SIDE], state[FIRST] = written, 1 - state[SIDE], 0


@inner(forceinline=True)
def _take_first(pairs, old, read, new, written, wanted):
    """Bring the first entries of the old front and of the heap to the new front, in order."""
    heap, state = pairs.heap, pairs.state
    records = 0
    for _ in range(wanted):
        some = state[HEAP] > 0
        if read < state[FRONT] and not (some and _before(heap[0], old[read])):
            _put(new, written, old[read])
            read += 1
        elif some:
            _put(new, written, heap[0])
            _pop(heap, state[HEAP])
            state[HEAP] -= 1
        else:
            break
        # As in `_fetch`.
        records += pairs.group[new[written].owner].size + pairs.group[new[written].near].size
        written += 1
    state[FETCHED] = records
    return written, read


@inner(forceinline=True)
def _plan(pairs, k, owner, event):
    """The event of the pair that a group keeps; how many more groups are small after it."""
    state, own = pairs.state, pairs.group[owner]
    other = pairs.group[own.near]
    own.looked = state[BATCH]
    event[BEFORE] = state[MERGERS]
    if other.merged == state[BATCH] or other.size != own.near_size:
        event[OWNER], event[OTHER] = owner, -1
        event[ROW], event[SIZE] = own.row, own.size
        return 0
    i, j = min(owner, own.near), max(owner, own.near)
    own.merged = other.merged = state[BATCH]
    state[FREE] -= 1
    state[MERGERS] += 1
    both = own.size + other.size
    event[OWNER], event[OTHER] = i, j
    event[ROW], event[OTHER_ROW] = pairs.group[i].row, pairs.group[j].row
    event[NEW_ROW], event[SIZE] = pairs.free[state[FREE]], both
    return np.int64(both < k) - (own.size < k) - (other.size < k)
