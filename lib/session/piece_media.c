/* piece_media.c - which media the ids of a piece are rows of: a table of them
 * in its file, by which a session finds the numbers that it gave them */
#include <assert.h>
#include <string.h>

#include "session/piece_rows.h"

bool
session_piece_row(struct gg_session *s, int32_t id, struct piece_row *row)
{
    const struct medium *m;

    *row = (struct piece_row){ 0 };
    if (id < s->media.n_vocab)
        return true;
    m = session_media_keyed(&s->media, id);
    if (!m)
        return false;
    *row = (struct piece_row){ m->key, id - m->first };
    return true;
}

/* The medium of the table that the id is a row of, by the table's numbers;
 * NULL: of none. */
static const struct piece_medium *
find_medium(const struct piece_medium *table, int32_t n, int32_t id)
{
    for (int32_t i = 0; i < n; i++)
        if (id >= table[i].first && id - table[i].first < table[i].n)
            return &table[i];
    return NULL;
}

static void
insert_medium(struct piece_medium *table, int32_t n, const struct medium *m)
{
    int32_t at = n;

    for (; at > 0 && table[at - 1].first > m->first; at--)
        table[at] = table[at - 1];
    memcpy(table[at].key, m->key, sizeof(table[at].key));
    table[at].first = m->first;
    table[at].n = m->n;
}

int32_t
session_piece_list_media(struct gg_session *s, const struct piece *p,
                         struct piece_medium table[PIECE_IDS])
{
    int32_t n = 0;

    for (int32_t i = 0; i < p->n; i++) {
        const struct medium *m;

        if (p->ids[i] < s->media.n_vocab || find_medium(table, n, p->ids[i]))
            continue;
        m = session_media_keyed(&s->media, p->ids[i]);
        assert(m);
        insert_medium(table, n++, m);
    }
    return n;
}

static bool
is_table_sound(const struct gg_session *s, const struct piece_medium *table,
               int32_t n)
{
    int32_t end = s->model->hp.n_vocab;

    for (int32_t i = 0; i < n; i++) {
        if (table[i].first < end || table[i].n < 1 ||
            table[i].n > INT32_MAX - table[i].first)
            return false;
        end = table[i].first + table[i].n;
    }
    return true;
}

/* The session's number of an id of the medium; -1: it does not have it. */
static int32_t
number_row(struct gg_session *s, const struct piece_medium *x, int32_t id)
{
    const struct medium *m = session_media_find_key(&s->media, x->key);

    return m && m->n == x->n ? m->first + (id - x->first) : -1;
}

bool
session_piece_number(struct gg_session *s, struct piece *p,
                     const struct piece_medium *table)
{
    const struct piece_medium *x = NULL;

    if (!is_table_sound(s, table, p->n_media))
        return false;
    for (int32_t i = 0; i < p->n; i++) {
        if (p->ids[i] >= 0 && p->ids[i] < s->model->hp.n_vocab)
            continue;
        x = find_medium(table, p->n_media, p->ids[i]);
        if (!x)
            return false;
        p->ids[i] = number_row(s, x, p->ids[i]);
    }
    return true;
}
