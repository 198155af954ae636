/* sink.h - records to standard output in any form
 *
 * What cannot be written ends the tool. */
#ifndef LOGITS_SINK_H
#define LOGITS_SINK_H

#include "gg-logits/forms.h"

struct sink;

/* `level`: how much .npz is deflated; 0: it is stored. */
struct sink *
sink_new(enum form form, int level);
/* Records as gg_logit_read() gives them; each is on its way when this returns,
 * but for arrays, which are written by sink_finish(). */
void
sink_put(struct sink *s, const struct gg_logit_record *record);
void
sink_finish(struct sink *s);
void
sink_free(struct sink *s);

/* ---- the forms ---- */

void
text_put(const struct gg_logit_record *record);
void
jsonl_put(const struct gg_logit_record *record);

/* A float in the fewest of nine digits that "%.9g" has. */
void
put_float(float x);

struct npz_writer;
struct npz_writer *
npz_writer_new(bool archive, int level);
void
npz_writer_put(struct npz_writer *w, const struct gg_logit_record *record);
void
npz_writer_finish(struct npz_writer *w);
void
npz_writer_free(struct npz_writer *w);

#endif
