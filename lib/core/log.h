/* log.h - the library's one voice: silent unless a callback is set */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <ggml.h>

__attribute__((format(printf, 2, 3))) void
log_say(enum ggml_log_level level, const char *fmt, ...);

#endif
