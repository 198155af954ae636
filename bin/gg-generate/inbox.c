/* inbox.c - records that were read and wait for a slot */
#include <config.h>

#include "gg-generate/inbox.h"

#include <ggml.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/spare.h"
#include "gg-generate/control.h"

enum {
    BEGINNING = 512,       /* bytes of a line that there is no memory for */
    MAX_WAITING = 1 << 26, /* bytes; then the input waits, too */
};

static void
list_init(struct inbox_list *l)
{
    *l = (struct inbox_list){ .end = &l->first };
}

void
inbox_init(struct inbox *b, struct record_input *in)
{
    *b = (struct inbox){ .in = in };
    list_init(&b->waiting);
    list_init(&b->controls);
}

void
inbox_item_free(struct inbox_item *item)
{
    if (item)
        free(item->text);
    free(item);
}

void
inbox_clear(struct inbox *b)
{
    struct inbox_item *item;

    while ((item = inbox_take(b, &b->waiting)))
        inbox_item_free(item);
    while ((item = inbox_take(b, &b->controls)))
        inbox_item_free(item);
}

struct inbox_item *
inbox_take_at(struct inbox *b, struct inbox_list *list, struct inbox_item **at)
{
    struct inbox_item *item = *at;

    if (!item)
        return NULL;
    *at = item->next;
    if (!*at)
        list->end = at;
    b->n -= list == &b->waiting;
    b->bytes -= item->len;
    return item;
}

struct inbox_item *
inbox_take(struct inbox *b, struct inbox_list *list)
{
    return inbox_take_at(b, list, &list->first);
}

static void
add_line(struct inbox *b, const char *text, size_t len, uint64_t number)
{
    struct inbox_item *item = cli_alloc(NULL, 1, sizeof(*item));
    bool too_long = b->in->reader.too_long, no_memory = false;
    bool is_control = !too_long && control_is(text, len, &no_memory);
    struct inbox_list *list = is_control ? &b->controls : &b->waiting;
    struct gg_error err;

    no_memory = no_memory || b->in->reader.no_memory ||
                spare_check(len, 1, &err) != GG_OK;
    if (no_memory && len > BEGINNING)
        len = BEGINNING;
    *item = (struct inbox_item){ .text = cli_copy(text, len),
                                 .len = len,
                                 .number = number,
                                 .too_long = too_long,
                                 .no_memory = no_memory,
                                 .came = ggml_time_us() };
    *list->end = item;
    list->end = &item->next;
    b->n += !is_control;
    b->bytes += len;
}

static bool
read_line(struct inbox *b)
{
    uint64_t number;
    const char *text;
    size_t len;
    enum reader_state state =
        record_input_next(b->in, false, &text, &len, &number);

    b->ended = state == READER_END;
    if (state == READER_RECORD)
        add_line(b, text, len, number);
    return state == READER_RECORD;
}

void
inbox_read(struct inbox *b, int ms)
{
    struct pollfd p = { .fd = b->in->reader.fd, .events = POLLIN };
    bool any = false;

    while (!b->ended && b->bytes < MAX_WAITING && read_line(b))
        any = true;
    if (any || b->ended || b->bytes >= MAX_WAITING || ms == 0)
        return;
    if (poll(&p, 1, ms) > 0)
        while (b->bytes < MAX_WAITING && read_line(b))
            ;
}
