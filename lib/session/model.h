/* model.h - a model whose weights are where devices want them */
#ifndef SESSION_MODEL_H
#define SESSION_MODEL_H

#include "graph/model.h"

/* The drafter that `mtp` is, or the MTP layers of `mtp`, a file of the same
 * model that has nothing else, become those of `file`, which keeps its mappings
 * from now on. */
enum gg_status
session_adopt_mtp(struct gguf_file *file, struct gguf_file *mtp,
                  struct gg_error *err);

/* Takes the weights out of the parsed files: they stay in their mappings where
 * their device can compute there, and are copied to it otherwise. What is to be
 * on a device that fails goes to the next, and the note says so; at last to the
 * CPU, unless devices were requested by name. */
enum gg_status
session_load_model(const struct model_files *files,
                   const struct model_devices *devices,
                   const struct gg_model_params *params, struct model **out,
                   struct gg_error *err);

/* The weights of one whose homes have their layers. What `lender`, or NULL, has
 * on the same device stays its own, and is not copied. On failure *failed are
 * the homes that it was the fault of, if that is known. */
enum gg_status
session_take_weights(const struct gg_model_params *params,
                     const struct model *lender, struct model *m,
                     model_home_set *failed, struct gg_error *err);

/* Bytes of a home's weights, with those of adapters. */
uint64_t
session_home_weights(const struct model *m, int home);

/* Takes NULL. */
void
session_free_model(struct model *model);

#endif
