/* Many sorted tables of n-grams added up in one pass, of which a window of each is in memory. */
#include "kernel.h"
#include "ngram_stream.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The n-grams of all tables come out in the order in which each table has its own: of those that come next in some
 * table the longest, since a shorter one would leave what that one begins with, and of these the first by its last
 * word. So the key of an n-gram is (words that it lacks to the longest, last word): two tables with the same key mean
 * the same n-gram.
 */
typedef struct {
    int64_t tables, chapters, deepest, adds, room, capacity;
    /* Of each table: its window (tables, room), where that is read and ends, whether more comes. */
    const uint8_t *windows;
    int64_t *begins;
    const int64_t *ends;
    const uint8_t *final;
    Place *places;
    uint32_t *last; /* (tables, deepest): the words of its last n-gram, in its own numbers */
    int64_t *keys;
    const int64_t *types, *first_type; /* how many words it has, and where they begin in the following */
    const int32_t *numbers, *own;      /* of each its number among all words, and among those of the chapter */
    const int64_t *chapter_of;
    /* Tables by key, the least first, as a heap; and those whose next n-gram is still to be read. */
    int32_t *heap, *waiting;
    int64_t *heaped, *unread;
    uint64_t *counts; /* of the n-gram that was met last and of those that it begins with */
    /* Of each chapter: what is written (chapters, capacity), how much, what was written last. */
    uint8_t *written;
    int64_t *used;
    Place *ends_at;
    uint32_t *written_last, *path; /* (chapters, deepest): the words written last, and of the n-gram met last */
    int64_t *told;                 /* how much of that n-gram is written */
    int64_t *full;                 /* whether a chapter's room is nearly used up */
} Merging;

static bool before(const Merging *m, int32_t a, int32_t b) {
    return m->keys[a] < m->keys[b] || (m->keys[a] == m->keys[b] && a < b);
}

static void put(const Merging *m, int32_t table) {
    int64_t at = (*m->heaped)++;
    for (; at && before(m, table, m->heap[(at - 1) / 2]); at = (at - 1) / 2) m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = table;
}

static int32_t take(const Merging *m) {
    int32_t least = m->heap[0], moved = m->heap[--*m->heaped];
    int64_t at = 0, size = *m->heaped;
    for (int64_t child; (child = 2 * at + 1) < size; at = child) {
        if (child + 1 < size && before(m, m->heap[child + 1], m->heap[child])) child++;
        if (!before(m, m->heap[child], moved)) break;
        m->heap[at] = m->heap[child];
    }
    m->heap[at] = moved;
    return least;
}

/* Reads the next n-gram of a table into the heap; false where the bytes are damaged. */
static bool read_next(const Merging *m, int32_t table) {
    const uint8_t *window = m->windows + table * m->room, *from = window + m->begins[table];
    uint32_t *last = m->last + table * m->deepest;
    Place *place = m->places + table;
    from = read_ngram(from, place, last, (int32_t)m->deepest, (uint32_t)m->types[table]);
    m->begins[table] = from - window;
    if (place->depth == DAMAGED || m->begins[table] > m->ends[table]) return false;
    if (place->depth == ENDED) return m->final[table] && m->begins[table] == m->ends[table];
    if (place->count == 0) return false;
    int64_t word = m->numbers[m->first_type[table] + last[place->depth]];
    m->keys[table] = (int64_t)(m->deepest - 1 - place->depth) << 32 | word;
    put(m, table);
    return true;
}

/* An n-gram of a chapter: written with what it begins with where it says something, else when a longer one does. */
static void meet(const Merging *m, int64_t chapter, int32_t depth, uint32_t word, bool says) {
    uint32_t *path = m->path + chapter * m->deepest, *last = m->written_last + chapter * m->deepest;
    path[depth] = word;
    if (m->told[chapter] > depth) m->told[chapter] = depth;
    if (!says) return;
    uint8_t *begin = m->written + chapter * m->capacity, *to = begin + m->used[chapter];
    for (int64_t n = m->told[chapter]; n <= depth; n++)
        to = write_ngram(to, m->ends_at + chapter, last, (int32_t)n, path[n], (uint32_t)m->counts[n]);
    m->told[chapter] = depth + 1;
    m->used[chapter] = to - begin;
    if (m->used[chapter] + (m->deepest + 1) * RECORD_BYTES > m->capacity) *m->full = 1;
}

/*
 * Goes on until it needs something. Returns a table whose window is to be filled, -5 where what is written of chapters
 * is to be taken away, -3 when all is done, -2 for damaged bytes, -4 for an n-gram that occurs 2^32 times or more.
 * Where it does not add, equal n-grams have equal counts.
 */
KERNEL int64_t steelyard_ngram_merging(const Merging *m) {
    for (;;) {
        if (*m->full) return -5;
        while (*m->unread) {
            int32_t table = m->waiting[*m->unread - 1];
            if (!m->final[table] && m->ends[table] - m->begins[table] < RECORD_BYTES) return table;
            --*m->unread;
            if (!read_next(m, table)) return -2;
        }
        if (*m->heaped == 0) break;
        int64_t key = m->keys[m->heap[0]];
        uint64_t count = 0;
        while (*m->heaped && m->keys[m->heap[0]] == key) {
            int32_t table = take(m);
            m->waiting[(*m->unread)++] = table;
            count = m->adds ? count + m->places[table].count : m->places[table].count;
        }
        if (count > UINT32_MAX) return -4;
        int32_t depth = (int32_t)(m->deepest - 1 - (key >> 32));
        m->counts[depth] = count;
        bool says = depth == 0 || count < m->counts[depth - 1];
        int64_t chapter = -1;
        for (int64_t k = 0; k < *m->unread; k++) {
            int32_t table = m->waiting[k];
            if (m->chapter_of[table] == chapter) continue;
            chapter = m->chapter_of[table];
            uint32_t word = m->last[table * m->deepest + depth];
            meet(m, chapter, depth, (uint32_t)m->own[m->first_type[table] + word], says);
        }
    }
    for (int64_t chapter = 0; chapter < m->chapters; chapter++) {
        uint8_t *to = m->written + chapter * m->capacity + m->used[chapter];
        m->used[chapter] = write_end(to, m->ends_at + chapter) - (m->written + chapter * m->capacity);
    }
    return -3;
}
