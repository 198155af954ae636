/* held.c - lines of the command that it may yet take back */
#include <config.h>

#include "gg-loop/held.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

struct held {
    struct held *next;
    unsigned long long sequence;
    struct queue lines;
};

static struct held **
find(struct held_lines *h, unsigned long long sequence)
{
    struct held **at = &h->first;

    while (*at && (*at)->sequence != sequence)
        at = &(*at)->next;
    return at;
}

static void
release(struct held_lines *h, struct held **at, struct queue *print)
{
    struct held *held = *at;

    h->size -= queue_size(&held->lines);
    queue_move(&held->lines, print);
    queue_clear(&held->lines);
    *at = held->next;
    free(held);
}

/* Without what says that it takes back or may be taken back. */
static void
add_line(struct queue *to, const struct line *line)
{
    const char *tab = memchr(line->text, '\t', line->len);

    if (!line->back && !line->open) {
        queue_add(to, line->text, line->len);
        return;
    }
    if (line->numbered && tab)
        queue_add(to, line->text, (size_t)(tab + 1 - line->text));
    queue_add(to, line->ids, line->ids_len);
    queue_add(to, "\n", 1);
}

static void
hold(struct held **at, const struct line *line)
{
    if (!*at) {
        *at = cli_alloc(NULL, 1, sizeof(**at));
        **at = (struct held){ .sequence = line->sequence };
    }
    add_line(&(*at)->lines, line);
}

bool
held_add(struct held_lines *h, const struct line *line, struct queue *print)
{
    struct held **at = find(h, line->sequence);
    size_t before = *at ? queue_size(&(*at)->lines) : 0;

    if (line->back &&
        (!*at || queue_drop_words(&(*at)->lines, line->back) < line->back))
        return false;
    if (line->open)
        hold(at, line);
    h->size += (*at ? queue_size(&(*at)->lines) : 0) - before;
    if (line->open)
        return true;
    if (*at)
        release(h, at, print);
    add_line(print, line);
    return true;
}

void
held_end(struct held_lines *h, struct queue *print)
{
    while (h->first)
        release(h, &h->first, print);
}
