/* case.c - texts in small and capital letters */
#include <config.h>

#include "chat/case.h"

#include "core/case.h"

/* As str.upper() has it: some letters become two. */
static void
put_upper(struct chat_builder *b, uint32_t c, enum chat_case how,
          enum chat_origin origin)
{
    bool first = how == CHAT_CASE_TITLE || how == CHAT_CASE_CAPITAL;

    if (c == 0xdf)
        chat_put(b, first ? "Ss" : "SS", 2, origin);
    else
        chat_put_character(b, core_upper(c), origin);
}

static bool
has_forms(uint32_t c)
{
    return core_upper(c) != c || core_lower(c) != c || c == 0xdf;
}

struct chat_value
chat_change_case(struct chat_run *r, const struct chat_string *s,
                 enum chat_case how)
{
    struct chat_builder b = { .r = r, .markup = s->markup };
    bool first = true;

    for (size_t at = 0, n; at < s->n && !chat_failed(r); at += n) {
        bool upper =
            how == CHAT_CASE_UPPER || (how != CHAT_CASE_LOWER && first);
        uint32_t c = 0;

        n = chat_character(s, at, &c);
        chat_take_steps(r, 1);
        if (how == CHAT_CASE_SWAP)
            upper = core_lower(c) == c;
        if (!has_forms(c))
            chat_put_part(&b, s, at, n);
        else if (upper)
            put_upper(&b, c, how, chat_origin_at(s, at));
        else
            chat_put_character(&b, core_lower(c), chat_origin_at(s, at));
        first = how == CHAT_CASE_TITLE && !has_forms(c);
    }
    return chat_built(&b);
}
