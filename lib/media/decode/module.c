/* module.c - what the module exports */
#include <config.h>

#include "media/decode/module.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const struct media_module *const gg_media_module;

const struct media_module *const gg_media_module = &media_module_table;
