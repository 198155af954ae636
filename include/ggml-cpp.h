/* ggml-cpp.h - owners for C++: each pointer frees what it holds */
#ifndef GGML_CPP_H
#define GGML_CPP_H

#ifndef __cplusplus
#error "ggml-cpp.h is for C++"
#endif

#include "ggml.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "gguf.h"
#include <memory>

template <typename T, void (*release)(T *)> struct ggml_deleter {
    void operator()(T *p) const
    {
        release(p);
    }
};

using ggml_context_deleter = ggml_deleter<ggml_context, ggml_free>;
using gguf_context_deleter = ggml_deleter<gguf_context, gguf_free>;
using ggml_gallocr_deleter = ggml_deleter<ggml_gallocr, ggml_gallocr_free>;
using ggml_backend_deleter = ggml_deleter<ggml_backend, ggml_backend_free>;
using ggml_backend_buffer_deleter =
    ggml_deleter<ggml_backend_buffer, ggml_backend_buffer_free>;
using ggml_backend_event_deleter =
    ggml_deleter<ggml_backend_event, ggml_backend_event_free>;
using ggml_backend_sched_deleter =
    ggml_deleter<ggml_backend_sched, ggml_backend_sched_free>;

using ggml_context_ptr = std::unique_ptr<ggml_context, ggml_context_deleter>;
using gguf_context_ptr = std::unique_ptr<gguf_context, gguf_context_deleter>;
using ggml_gallocr_ptr = std::unique_ptr<ggml_gallocr, ggml_gallocr_deleter>;
using ggml_backend_ptr = std::unique_ptr<ggml_backend, ggml_backend_deleter>;
using ggml_backend_buffer_ptr =
    std::unique_ptr<ggml_backend_buffer, ggml_backend_buffer_deleter>;
using ggml_backend_event_ptr =
    std::unique_ptr<ggml_backend_event, ggml_backend_event_deleter>;
using ggml_backend_sched_ptr =
    std::unique_ptr<ggml_backend_sched, ggml_backend_sched_deleter>;

#endif
