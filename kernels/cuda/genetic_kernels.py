"""Kernel of the genetic algorithm: many generations in one launch, all steps by all blocks.

It is the text of `generic.genetic` on strings of bits, 32 to a word (kept in an int64, out of the
sign's way). A string of n bits is repaired in parallel as follows. From a 1 at a place L the next
one is at f(L): the first 1 from L + k on if it is before L + 2k, else L + k. The last group also
must have k places: where f(L) lies too near the end, it is L + k. So the repaired string is the
way from 0 by f, which has up to n / k steps. It is cut into stretches: as a step is shorter than
2k, the way comes into a stretch at one of its first 2k - 1 places. From each of them a thread
walks to the end of the stretch; then the ways are joined by looking up, stretch after stretch,
and each stretch is walked once more from where the way really comes in.
"""

from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from numba import cuda

from .arithmetic import add, product, rounded
from .compiled import entry
from .philox import DRAW_BITS, draw, four_draws, whole_below
from .sums import add_up, begin
from .team import NONE, THREADS, make_team

# Bits in a word; shifts take the place of divisions, which cost more.
SHIFT = 5
WORD = 1 << SHIFT
# What status holds: the generation to come, whether the search is over, the string that is better
# than all before. What standing holds: the best fitness, and the one whose standstill is awaited.
GENERATION, DONE, BETTER = range(3)
BEST, AWAITED = range(2)


class Search(NamedTuple):
    """The numbers that stay the same in a search."""

    n: Any  # bits of a string
    k: Any
    stretch: Any  # bits of a stretch
    by_mean: Any  # whether the mean fitness is awaited to stand still, else the best
    generations: Any  # at most
    cross_below: Any  # a pair crosses whose draw is below this
    flip_below: Any  # a bit is inverted whose draw is below this
    factor: Any  # a fitness that has not grown by more stands still
    keys: Any  # of the draws


class Population(NamedTuple):
    """The strings of a generation, and what is worked out of them."""

    strings: Any  # (population, words) repaired
    children: Any  # (population, words) not yet repaired
    ahead: Any  # (population, words + 1) the first word from each on that has a 1
    exits: Any  # (population, joins, 2k - 1) the way out of a stretch for each way in
    shares: Any  # (population, shares, 3) parts of the fitness
    wheel: Any  # (population,) fitness, then its running sum
    chosen: Any  # (population,) the parent of each child
    sites: Any  # (population,) where each child crosses


@cuda.jit(device=True)
def lowest(word):
    """Place of the lowest 1 in a word that has one."""
    return cuda.ffs(word) - 1


@cuda.jit(device=True)
def next_start(bits, ahead, i, place, n, k):
    """Where the next group starts in string i, repaired, after one that starts at a place."""
    start = place + k
    w = start >> SHIFT
    word = bits[i, w] >> (start & (WORD - 1))
    if word:
        start += lowest(word)
    else:
        w = ahead[i, w + 1]
        start = WORD * w
        if w < bits.shape[1]:
            start += lowest(bits[i, w])
    return start if start < place + 2 * k and start <= n - k else place + k


@cuda.jit(device=True)
def look_ahead(bits, ahead):
    """For each word of each string the first one from there on that has a 1."""
    words = bits.shape[1]
    for item in range(cuda.grid(1), ahead.size, cuda.gridsize(1)):
        i = item // (words + 1)
        w = item % (words + 1)
        found = w
        while found < words and bits[i, found] == 0:
            found += 1
        ahead[i, w] = found


@cuda.jit(device=True)
def stretches(n, stretch):
    """Number of stretches of a string; the last one may be longer than the others."""
    return max(n // stretch, 1)


@cuda.jit(device=True)
def cross_stretches(bits, ahead, exits, n, k, stretch):
    """For each way into each stretch but the last the way into the next one."""
    joins = stretches(n, stretch) - 1
    entries = exits.shape[2]
    for item in range(cuda.grid(1), bits.shape[0] * joins * entries, cuda.gridsize(1)):
        entry = item % entries
        s = item // entries % joins
        i = item // entries // joins
        place = s * stretch + entry
        end = (s + 1) * stretch
        while place < end:
            place = next_start(bits, ahead, i, place, n, k)
        exits[i, s, entry] = place - end


@cuda.jit(device=True)
def write_repaired(bits, ahead, exits, n, k, stretch, repaired):
    """Write each stretch of each string, with a 1 where a group starts."""
    parts = stretches(n, stretch)
    for item in range(cuda.grid(1), bits.shape[0] * parts, cuda.gridsize(1)):
        i = item // parts
        s = item % parts
        place = 0
        for before in range(s):
            place = exits[i, before, place]
        place += s * stretch
        last = (s + 1) * stretch // WORD if s < parts - 1 else bits.shape[1]
        for w in range(s * stretch // WORD, last):
            word = 0
            while place < (w + 1) * WORD:
                word |= 1 << (place & (WORD - 1))
                place = next_start(bits, ahead, i, place, n, k) if place <= n - 2 * k else n + WORD
            repaired[i, w] = word


@cuda.jit(device=True)
def cross(strings, chosen, sites, children):
    """Children: up to its site each is as its own parent, from there on as its neighbour's."""
    words = strings.shape[1]
    for item in range(cuda.grid(1), strings.size, cuda.gridsize(1)):
        i = item // words
        w = item % words
        own = strings[chosen[i], w]
        behind = sites[i] + 1 - w * WORD
        if behind < WORD:
            kept = (1 << max(behind, 0)) - 1
            own = (own & kept) | (strings[chosen[i ^ 1], w] & ~kept)
        children[i, w] = own


@cuda.jit(device=True)
def mutate(strings, n, flip_below, keys, generation, children):
    """Children: the strings with bits inverted where the draw says so."""
    population = strings.shape[0]
    words = strings.shape[1]
    for item in range(cuda.grid(1), strings.size, cuda.gridsize(1)):
        i = item // words
        w = item % words
        first = population + population // 2 * 2 + i * n + w * WORD
        flips = 0
        for block in range(first // 4, (first + WORD + 3) // 4):
            a, b, c, d = four_draws(keys, generation, block)
            four = (a < flip_below) | (b < flip_below) << 1
            four |= (c < flip_below) << 2 | (d < flip_below) << 3
            shift = 4 * block - first
            flips |= four << shift if shift >= 0 else four >> -shift
        within = min(WORD, n - w * WORD)
        children[i, w] = strings[i, w] ^ (flips & ((1 << within) - 1))


@lru_cache
def make_kernels(real, cooperative):
    """The kernel for sums of type ``real``, the team being the grid or one block."""
    team_sync = make_team(cooperative).team_sync
    unit = real(2.0**-DRAW_BITS)

    @cuda.jit(device=True)
    def repair(bits, ahead, exits, n, k, stretch, repaired):
        """Correct strings so that successive 1s are k to 2k - 1 places apart."""
        look_ahead(bits, ahead)
        team_sync()
        cross_stretches(bits, ahead, exits, n, k, stretch)
        team_sync()
        write_repaired(bits, ahead, exits, n, k, stretch, repaired)
        team_sync()

    @cuda.jit(device=True)
    def sum_up(strings, prefix, total, shares):
        """Between-groups sum of squares of each share of each string; a share to a block."""
        n = prefix.shape[0] - 1
        words = strings.shape[1]
        parts = shares.shape[1]
        for item in range(cuda.blockIdx.x, strings.shape[0] * parts, cuda.gridDim.x):
            i = item // parts
            part = item % parts
            begin(total)
            last = words * (part + 1) // parts
            for w in range(words * part // parts + cuda.threadIdx.x, last, THREADS):
                word = strings[i, w]
                while word:
                    start = WORD * w + lowest(word)
                    word &= word - 1
                    at = w
                    following = word
                    while following == 0 and at < words - 1:
                        at += 1
                        following = strings[i, at]
                    end = WORD * at + lowest(following) if following else n
                    square = real(0)
                    for j in range(prefix.shape[1]):
                        sum_ = prefix[end, j] - prefix[start, j]
                        square += product(sum_, sum_)
                    add(total, cuda.threadIdx.x, 0, square / real(end - start))
            add_up(total)
            if cuda.threadIdx.x < 3:
                shares[i, part, cuda.threadIdx.x] = total[0, cuda.threadIdx.x, 0]
        team_sync()

    @cuda.jit(device=True)
    def score(shares, total, wheel):
        """The fitness of each string; by one block."""
        for i in range(cuda.threadIdx.x, shares.shape[0], THREADS):
            for number in range(3):
                total[cuda.threadIdx.x, number, 0] = 0
            for part in range(shares.shape[1]):
                for number in range(3):
                    add(total, cuda.threadIdx.x, 0, shares[i, part, number])
            wheel[i] = rounded(total, cuda.threadIdx.x, 0)
        cuda.syncthreads()

    @cuda.jit(device=True)
    def judge(by_mean, factor, generations, wheel, standing, status):
        """Note the best string and whether the search is over; make fitness a wheel."""
        best = 0
        for i in range(1, wheel.shape[0]):
            if wheel[i] > wheel[best]:
                best = i
        awaited = wheel[best]
        status[BETTER] = NONE
        if status[GENERATION] == 0 or awaited > standing[BEST]:
            status[BETTER] = best
            standing[BEST] = awaited
        for i in range(1, wheel.shape[0]):
            wheel[i] += wheel[i - 1]
        if by_mean:
            awaited = wheel[wheel.shape[0] - 1] / real(wheel.shape[0])
        before = standing[AWAITED]
        standing[AWAITED] = awaited
        still = before <= awaited and awaited <= product(before, factor)
        if status[GENERATION] == generations or (status[GENERATION] > 0 and still):
            status[DONE] = 1
        status[GENERATION] += 1

    @cuda.jit(device=True)
    def choose(keys, generation, n, cross_below, wheel, chosen, sites):
        """Draw the parent of each child and the place where it crosses, none being far behind n."""
        population = wheel.shape[0]
        pairs = population // 2
        for i in range(cuda.threadIdx.x, population, THREADS):
            spin = product(real(draw(keys, generation, i)) * unit, wheel[population - 1])
            parent = 0
            while parent < population - 1 and wheel[parent] <= spin:
                parent += 1
            chosen[i] = parent
            sites[i] = n + WORD
            if i // 2 < pairs and draw(keys, generation, population + i // 2) < cross_below:
                sites[i] = whole_below(draw(keys, generation, population + pairs + i // 2), n)

    @entry(real, cooperative)
    def evolve(rounds, search, prefix, population, best, standing, status):
        n, k, stretch, keys = search.n, search.k, search.stretch, search.keys
        strings, children = population.strings, population.children
        ahead, exits = population.ahead, population.exits
        wheel, chosen, sites = population.wheel, population.chosen, population.sites
        total = cuda.shared.array((THREADS, 3, 1), real)
        for _ in range(rounds):
            generation = status[GENERATION]
            if status[DONE]:
                break
            if generation > 0:
                cross(strings, chosen, sites, children)
                team_sync()
                repair(children, ahead, exits, n, k, stretch, strings)
                mutate(strings, n, search.flip_below, keys, generation, children)
                team_sync()
            repair(children, ahead, exits, n, k, stretch, strings)
            sum_up(strings, prefix, total, population.shares)
            if cuda.blockIdx.x == 0:
                score(population.shares, total, wheel)
                if cuda.threadIdx.x == 0:
                    judge(
                        search.by_mean, search.factor, search.generations, wheel, standing, status
                    )
                cuda.syncthreads()
                choose(keys, generation + 1, n, search.cross_below, wheel, chosen, sites)
            team_sync()
            if status[BETTER] != NONE:
                for w in range(cuda.grid(1), strings.shape[1], cuda.gridsize(1)):
                    best[w] = strings[status[BETTER], w]

    return SimpleNamespace(evolve=evolve)
