/* records_write.c - answers that are done leave */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "common/terminal.h"
#include "gg-generate/run.h"

size_t
records_size(const struct record *r)
{
    return sizeof(*r) + r->text.cap + r->out.cap;
}

/* Draws depend on nothing else than what is named here. */
static void
check_known(const struct records *w, const struct record *r)
{
    if (r->out.len != r->before.len ||
        (r->out.len && memcmp(r->out.p, r->before.p, r->out.len) != 0))
        cli_die("%s: record %" PRIu64 " would now have another answer: the "
                "input, the options, the model or the processor differ",
                w->g->o->resume, r->request.number);
}

/* A NUL at the end of one is no part of its text. */
static void
put_record(struct records *w, const struct record *r)
{
    bool nul = w->in.reader.end == '\0' && r->out.len;

    resume_cut(w->g->o->resume, &w->resumed);
    terminal_write(r->out.p, r->out.len - nul, false);
    if (nul)
        putchar('\0');
}

static void
write_record(struct records *w, struct record *r)
{
    w->held -= records_size(r);
    if (r->known)
        check_known(w, r);
    else
        put_record(w, r);
    cli_flush();
    record_free(w->g, r);
}

void
records_write_done(struct records *w)
{
    struct record **at = &w->first, *last = w->last;

    while (*at && (w->g->o->unordered || (*at)->done)) {
        struct record *r = *at;

        if (r->done) {
            *at = r->next;
            write_record(w, r);
        } else {
            last = r;
            at = &r->next;
        }
    }
    w->last = w->first ? last : NULL;
}
