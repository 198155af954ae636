/* like.h - rows of numbers take the places of another stream's logits */
#ifndef LOGITS_LIKE_H
#define LOGITS_LIKE_H

#include "gg-logits/record_source.h"

struct like {
    struct record_source *model, *rows;
    const char *path; /* of the model */
};

/* As record_source_read(): `like` is a struct like. All but the numbers is the
 * model's. Ends the tool where rows and records do not fit. */
enum gg_status
like_read(void *like, struct gg_logit_record *out, struct gg_error *err);

#endif
