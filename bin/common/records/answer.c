/* answer.c - an answer that has ended, as it is written */
#include <config.h>

#include "common/records/answer.h"

#include "common/json.h"

void
record_answer_add_text(const struct record_answer *a, struct buffer *out)
{
    struct buffer all = { 0 };

    buffer_add(&all, a->echo.p, a->echo.len);
    buffer_add(&all, a->text.p, a->text.len);
    cli_json_add(out, all.p, all.len);
    buffer_clear(&all);
}
