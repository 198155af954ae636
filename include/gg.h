/* gg.h - the inference interface: vocabulary, model, session, sampler
 *
 * Every function that can fail returns enum gg_status, sets its results on
 * success only, and takes a last `struct gg_error *` (or NULL) that gets one
 * sentence. The library prints nothing; see ggml_log_set() for its words.
 * Handles belong to the caller; every gg_x_free() takes NULL.
 * No argument ends the process, unless it points elsewhere than it should: a
 * NULL where something must be, or a number out of its range, is GG_ERR_ARG;
 * a function without a status changes nothing and returns 0, false or NULL,
 * and -1 for an id.
 * Token ids are int32_t and at least 0 everywhere.
 *
 * Structs of parameters are set to 0 and then filled in: 0 is the default of
 * each field. Their last ones are reserved for fields to come; where one is not
 * 0, the program was made for a later version: GG_ERR_ARG.
 *
 * Threads: what is immutable (files, vocabularies, models, states that are
 * open, chat templates) may be used by any number at once; anything else
 * (sessions, samplers, histories, grammars, readers, writers, engines) by one
 * at a time, each handle by another if wanted. A handle lives until its
 * gg_x_free() or gg_x_close(), and what it was made of must live longer where
 * that is said.
 */
#ifndef GG_H
#define GG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GG_API        __attribute__((visibility("default"))) extern
#define GG_MUST_CHECK __attribute__((warn_unused_result))

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are ABI: append, never renumber. */
enum gg_status {
    GG_OK = 0,
    GG_ERR_ARG = 1,         /* a value that cannot be meant */
    GG_ERR_NOMEM = 2,       /* out of memory, or a size would overflow */
    GG_ERR_IO = 3,          /* a read or write failed */
    GG_ERR_FORMAT = 4,      /* the input is not what it claims to be */
    GG_ERR_UNSUPPORTED = 5, /* sound, but nothing that we can do */
    GG_ERR_TRUNCATED = 6,   /* the input ended in the middle */
    GG_ERR_CONTEXT = 7,     /* the context of a sequence is full */
    GG_ERR_ABORTED = 8,     /* the abort callback said so */
    GG_EOF = 9,             /* not an error: there is no further record */
};

/* One sentence, NUL-ended, without a newline and without the program's name:
 * "model.gguf: blk.3.ffn_up.weight: data ends past end of file". Control
 * characters of names are escaped. */
struct gg_error {
    char message[512];
};

/* A static string, never NULL, for any number. */
GG_API const char *
gg_status_string(enum gg_status status);

/* Shows s[0..len) as printable text in buf, NUL-ended, cut to fit `size`:
 * control characters, DEL, C1, those that turn the direction of text or end a
 * line, backslash and bytes that are not UTF-8 become \n \r \t \\ or \xHH.
 * Nothing is cut where size > 4 * len. Returns buf. */
GG_API char *
gg_escape(char *buf, size_t size, const char *s, size_t len);

/* The version of this header; major * 1000000 + minor * 1000 + patch is one
 * number to compare with. */
#define GG_VERSION_MAJOR 0
#define GG_VERSION_MINOR 1
#define GG_VERSION_PATCH 0
#define GG_VERSION                                                             \
    (GG_VERSION_MAJOR * 1000000 + GG_VERSION_MINOR * 1000 + GG_VERSION_PATCH)

/* That of the library that runs: "0.1.0", and as one number. */
GG_API const char *
gg_version(void);
GG_API uint32_t
gg_version_number(void);

/* How many threads a session has where none is said: the processors that this
 * process may use, within the quota of its control group. */
GG_API int
gg_default_threads(void);

/* ---- Model files, whatever their format -------------------------------- */

struct gguf_context; /* <gguf.h> */
struct gg_file;      /* a file, mapped; immutable once open */

/* Called for each file that the library opens for reading, by any function: a
 * shard, a file of a folder, a state. `fd` is valid during the call. */
typedef void (*gg_open_callback)(const char *path, int fd, void *data);

/* Sets it for the process, before other threads call the library; NULL: none.
 * With it a program can make sure that its outputs are no inputs. */
GG_API void
gg_set_open_callback(gg_open_callback callback, void *data);

/* Opens a file as open(path, flags) does: a descriptor, or -1 and errno. */
typedef int (*gg_opener)(const char *path, int flags, void *data);

/* Sets what the library opens files for reading by, before other threads call
 * it; NULL: open(). A program that may not open files itself can have another
 * process do it. */
GG_API void
gg_set_opener(gg_opener opener, void *data);

enum {
    GG_SHA256 = 32, /* bytes of a hash */
};

/* The SHA-256 of some bytes. GG_ERR_ARG: a pointer is NULL. */
GG_API GG_MUST_CHECK enum gg_status
gg_sha256(const void *data, size_t n, uint8_t hash[GG_SHA256],
          struct gg_error *err);

/* That of a regular file, wherever its descriptor stands, which stays the
 * caller's. */
GG_API GG_MUST_CHECK enum gg_status
gg_sha256_file(int fd, uint8_t hash[GG_SHA256], struct gg_error *err);

/* Opens a GGUF file, with its other shards where a model was split, or a file
 * of an older format, which then looks like one: ggml (GPT-2 as in ggml's
 * example, LLaMA), ggmf, ggjt 1 to 3, and llama2.c's checkpoints 0 to 2, whose
 * tokenizer.bin must lie next to them; or a folder with a model of Hugging
 * Face's transformers. gg-convert(1) says what of such a file is rewritten.
 * gg_vocab_open() and gg_model_open() take the same files. */
GG_API GG_MUST_CHECK enum gg_status
gg_file_open(const char *path, struct gg_file **out, struct gg_error *err);

/* Opens a folder with a LoRA adapter of Hugging Face's PEFT, whose
 * model's configuration is in the folder `base`; NULL: in the one that the
 * adapter's names. Or a folder with a drafter that has no tokens: `base`, a
 * folder or a GGUF file, is the model that it drafts for, whose tokens it
 * gets. */
GG_API GG_MUST_CHECK enum gg_status
gg_file_open_adapter(const char *path, const char *base, struct gg_file **out,
                     struct gg_error *err);

/* Opens a folder whose model sees or hears: its encoders of pictures and
 * sounds as a projector file (mmproj), and not the model of text. */
GG_API GG_MUST_CHECK enum gg_status
gg_file_open_projector(const char *path, struct gg_file **out,
                       struct gg_error *err);

/* Opens a GGUF file's keys and table of tensors alone, which are read and not
 * mapped: the data need not be there, gg_file_data() has none, and
 * gg_file_read() writes none. A file that is no GGUF file is opened as by
 * gg_file_open(). */
enum {
    GG_FILE_ALONE = 1, /* of a model that was split, this file alone */
};
GG_API GG_MUST_CHECK enum gg_status
gg_file_open_metadata(const char *path, unsigned flags, struct gg_file **out,
                      struct gg_error *err);

GG_API void
gg_file_close(struct gg_file *file); /* takes NULL */

/* Keys and tensors in GGUF's terms, for the functions of <gguf.h>, but for
 * gguf_get_arr_str() and gguf_get_arr_data(): arrays are not copied. Lives as
 * long as the file is open. */
GG_API const struct gguf_context *
gg_file_gguf(const struct gg_file *file);

/* True if the folder of a model may have a subfolder of that name, with files
 * that are read, too: further templates, or a step such as "1_Pooling". */
GG_API bool
gg_is_model_subfolder(const char *name);

/* "GGUF", "ggml", "ggmf v1", "ggjt v3", "llama2.c", "Hugging Face"; static. */
GG_API const char *
gg_file_format(const struct gg_file *file);

/* A sentence about what of a folder's weights, which are quantised already, is
 * rounded or left out. NULL: there is nothing to say. Lives as long as the file
 * is open. */
GG_API const char *
gg_file_note(const struct gg_file *file);

/* The data of a tensor, 0 <= tensor < gguf_get_n_tensors(): of no alignment,
 * gguf_get_tensor_size() bytes. NULL in a folder, of whose files it has to be
 * made: gg_file_read() does so. */
GG_API const void *
gg_file_data(const struct gg_file *file, int64_t tensor);

/* Writes the same to `out`, whatever it is made of. */
GG_API void
gg_file_read(const struct gg_file *file, int64_t tensor, void *out);

/* Says that its data will not be read again soon: then a program that reads one
 * tensor after the other has one in memory, not all. */
GG_API void
gg_file_forget(const struct gg_file *file, int64_t tensor);

/* ---- Vocabulary: text <-> token ids ---------------------------------- */

struct gg_vocab; /* immutable once open; any number of threads may use it */

enum gg_token_type {
    GG_TOKEN_NORMAL = 1,
    GG_TOKEN_UNKNOWN = 2,
    GG_TOKEN_CONTROL = 3,
    GG_TOKEN_USER_DEFINED = 4,
    GG_TOKEN_UNUSED = 5,
    GG_TOKEN_BYTE = 6,
};

/* Reads the vocabulary of a model file, and none of its weights. */
GG_API GG_MUST_CHECK enum gg_status
gg_vocab_open(const char *path, struct gg_vocab **out, struct gg_error *err);

GG_API void
gg_vocab_free(struct gg_vocab *vocab);

/* A sentence about what is not known of it, so that ids may differ from those
 * that the model was trained with: its split rule. NULL: all is known. */
GG_API const char *
gg_vocab_note(const struct gg_vocab *vocab);

GG_API int32_t
gg_vocab_size(const struct gg_vocab *vocab);

/* A hash of kind, tokens and types: equal for equal vocabularies. */
GG_API uint64_t
gg_vocab_fingerprint(const struct gg_vocab *vocab);

/* -1 where the vocabulary has none. */
GG_API int32_t
gg_vocab_bos(const struct gg_vocab *vocab);
GG_API int32_t
gg_vocab_eos(const struct gg_vocab *vocab);

/* Whether BOS is put before a text, and EOS after it, by the metadata. */
GG_API bool
gg_vocab_add_bos(const struct gg_vocab *vocab);
GG_API bool
gg_vocab_add_eos(const struct gg_vocab *vocab);

/* The id that the decoder of an encoder-decoder begins with, which
 * GG_ENCODE_EOS puts after the text's end; -1: it is none. */
GG_API int32_t
gg_vocab_decoder_start(const struct gg_vocab *vocab);

/* True for the ids that end a generation (end of text, of turn). */
GG_API bool
gg_vocab_is_eog(const struct gg_vocab *vocab, int32_t id);

/* All of them in ascending order; *n gets their number. Owned by the vocab. */
GG_API const int32_t *
gg_vocab_eog_ids(const struct gg_vocab *vocab, size_t *n);

/* Ids that the file wants never drawn (tokenizer.ggml.suppress_tokens): the
 * same way. */
GG_API const int32_t *
gg_vocab_suppressed_ids(const struct gg_vocab *vocab, size_t *n);

/* Values that the file wants tokens drawn with (general.sampling.*), as
 * gg_sampling_of_file() writes them; NULL: none. Owned by the vocab. */
GG_API const char *
gg_vocab_sampling(const struct gg_vocab *vocab);

/* GG_TOKEN_UNUSED where `id` is not below gg_vocab_size(). */
GG_API enum gg_token_type
gg_vocab_type(const struct gg_vocab *vocab, int32_t id);

/* The token as the file writes it: not the bytes that it stands for. Owned by
 * the vocabulary; not NUL-ended; *len gets its bytes. */
GG_API const char *
gg_vocab_token(const struct gg_vocab *vocab, int32_t id, size_t *len);

/* The id of the token that the file writes so, or -1. Of several that are
 * written alike, the first that texts are made of, else the first. */
GG_API int32_t
gg_vocab_find(const struct gg_vocab *vocab, const char *token, size_t len);

enum {
    GG_ENCODE_BOS = 1,     /* the vocabulary's BOS id goes first */
    GG_ENCODE_SPECIAL = 2, /* control tokens in the text become their ids */
    GG_ENCODE_EOS = 4,     /* the vocabulary's EOS id goes last */
    /* The text continues another, after gg_vocab_cut(): SentencePiece puts no
     * blank in front. */
    GG_ENCODE_CONTINUE = 8,
    /* The ids that ggml's GPT-2 example makes: of each word of ASCII letters,
     * digits, or other bytes, the longest token that it begins with, and so
     * on. GG_ERR_UNSUPPORTED: the vocabulary's tokens are not bytes. */
    GG_ENCODE_GREEDY = 16,
    /* A byte that the vocabulary has no token for is GG_ERR_UNSUPPORTED. */
    GG_ENCODE_STRICT = 32,
};

/* Result of encoding a text. */
struct gg_encoded {
    size_t n; /* ids, also those that there was no room for */
    /* Bytes that have no id, as the vocabulary has no token for them, nor one
     * for what is unknown. Not what normalising drops. */
    size_t left_out;
};

/* Writes the ids of text[0..len) to ids[0..cap), and how many these are to
 * *out. Where they are more than cap, the first ones are written and the status
 * is still GG_OK: call again with room for out->n. Any bytes are allowed; there
 * are mostly no more ids than bytes, and 2 * len + 3 at most, but where
 * Unigram's normalising lengthens the text. A control token, or one with a
 * meaning (BOS, EOS, end of generation), comes from the flags only, never from
 * bytes that have no token. GG_ERR_UNSUPPORTED: there is no BOS or EOS, or as
 * the flags say. */
GG_API GG_MUST_CHECK enum gg_status
gg_vocab_encode(const struct gg_vocab *vocab, const char *text, size_t len,
                unsigned flags, int32_t *ids, size_t cap,
                struct gg_encoded *out, struct gg_error *err);

/* Fill in the middle: the same for the text around the middle, with the marks
 * after which a model writes what is in it, in the order in which it was
 * trained. The suffix follows something, so SentencePiece puts no blank in
 * front of it. GG_ERR_ARG: GG_ENCODE_EOS or _GREEDY. GG_ERR_UNSUPPORTED: the
 * vocabulary has no such tokens. */
GG_API GG_MUST_CHECK enum gg_status
gg_vocab_encode_infill(const struct gg_vocab *vocab, const char *prefix,
                       size_t n_prefix, const char *suffix, size_t n_suffix,
                       unsigned flags, int32_t *ids, size_t cap,
                       struct gg_encoded *out, struct gg_error *err);

/* Where text[0..len), which begins as a text or at another such place, can be
 * cut: what stands before that offset, and what stands after it with
 * GG_ENCODE_CONTINUE, have the ids of the whole, whatever follows the text.
 * 0 where no such place is known; the last one mostly. Only GG_ENCODE_SPECIAL
 * and GG_ENCODE_GREEDY of the flags count. Time is linear. */
GG_API size_t
gg_vocab_cut(const struct gg_vocab *vocab, const char *text, size_t len,
             unsigned flags);

/* The first control token whose name stands in text[0..len), as
 * GG_ENCODE_SPECIAL would find it; *at gets its offset. -1: there is none. */
GG_API int32_t
gg_vocab_find_control(const struct gg_vocab *vocab, const char *text,
                      size_t len, size_t *at);

/* A stretch of a text; empty for what is not in it: BOS, an added blank. */
struct gg_range {
    size_t begin, end;
};

/* Which bytes of text[0..len) each id stands for, of all n ids that
 * gg_vocab_encode() makes of it with the same flags: to ranges[0..n), in
 * ascending order. In none are bytes that were left out, and what a token
 * skips: white space after some control tokens.
 *
 * WordPiece and Unigram see a text as normalising makes it. There an id has
 * the smallest range of the original with all bytes that its own come from: a
 * character that becomes several is in the range of each, one that is dropped
 * only in a range that goes over it, and of blanks that become one the last
 * counts. GG_ERR_ARG: these are not the text's ids. */
GG_API GG_MUST_CHECK enum gg_status
gg_vocab_offsets(const struct gg_vocab *vocab, const char *text, size_t len,
                 unsigned flags, const int32_t *ids, size_t n,
                 struct gg_range *ranges, struct gg_error *err);

/* State of turning ids back into bytes, kept between two ids. All zero
 * at the start of a sequence. */
struct gg_decode_state {
    bool no_bos;     /* set by the caller: a text starts here, without BOS */
    bool started;    /* an id has been decoded */
    bool drop_blank; /* the next blank is one that encoding had added */
};

enum {
    GG_DECODE_SPECIAL = 1, /* control tokens show their text */
};

/* The bytes of ids[0..n) that follow what `state` has seen, as many ids as
 * buf[0..cap) has room for: *done gets how many these are, and *len the bytes.
 * `state` then stands after them: ids + *done go on in other room, and none
 * is ever cut. Where there is none for ids[0], *done is 0, *len the bytes that
 * it needs, and `state` stays. The rest of `buf` may be overwritten.
 * An id that is not in the vocabulary ends the work, too: those in front are
 * decoded, and where there is none GG_ERR_FORMAT returned. */
GG_API GG_MUST_CHECK enum gg_status
gg_vocab_decode_ids(const struct gg_vocab *vocab, struct gg_decode_state *state,
                    const int32_t *ids, size_t n, unsigned flags, char *buf,
                    size_t cap, size_t *done, size_t *len,
                    struct gg_error *err);

/* The bytes of one id: *n gets their number; more than cap do not fit. */
GG_API GG_MUST_CHECK enum gg_status
gg_vocab_decode(const struct gg_vocab *vocab, struct gg_decode_state *state,
                int32_t id, unsigned flags, char *buf, size_t cap, size_t *n,
                struct gg_error *err);

/* ---- Chat: conversations -> token ids ----------------------------------- */

enum gg_role {
    GG_ROLE_SYSTEM = 0,
    GG_ROLE_USER = 1,
    GG_ROLE_ASSISTANT = 2,
    GG_ROLE_TOOL = 3, /* what a tool that the assistant used has answered */
};

struct gg_message {
    enum gg_role role;
    const char *content; /* any bytes; NULL where len is 0 */
    size_t len;
};

/* How a conversation is written out for a model: a program in Jinja, as model
 * files have it, or one of the known forms, for files that have none.
 * Immutable. */
struct gg_chat_template;

/* The known ones in turn; NULL after the last. */
GG_API const struct gg_chat_template *
gg_chat_at(size_t i);

/* "chatml", "llama3" ...; "jinja" of what was parsed. */
GG_API const char *
gg_chat_name(const struct gg_chat_template *chat);

/* NULL: none of the known ones has that name. */
GG_API const struct gg_chat_template *
gg_chat_find(const char *name);

/* Parses a template in Jinja of which the source need not live on.
 * GG_ERR_FORMAT: it is none, and the sentence has its line. */
GG_API GG_MUST_CHECK enum gg_status
gg_chat_parse(const char *source, size_t len, struct gg_chat_template **out,
              struct gg_error *err);

/* Parses the model's own: its default one, where name is NULL, with the one of
 * the name "tool_use", if it is there, for conversations with tools; or another
 * one. GG_ERR_UNSUPPORTED: it has none. */
GG_API GG_MUST_CHECK enum gg_status
gg_chat_open(const struct gg_vocab *vocab, const char *name,
             struct gg_chat_template **out, struct gg_error *err);

/* Whether what it writes may depend on the date: its source names
 * strftime_now. */
GG_API bool
gg_chat_takes_date(const struct gg_chat_template *chat);

/* Frees a parsed template. */
GG_API void
gg_chat_free(struct gg_chat_template *chat); /* takes NULL */

/* The source of the model's own template, or of one with a name: "rerank" is
 * how a reranker reads a pair, with {query} and {document} in their places. Not
 * NUL-ended; NULL: it has none. Owned by the vocabulary. */
GG_API const char *
gg_vocab_chat_source(const struct gg_vocab *vocab, const char *name,
                     size_t *len);

enum {
    /* The assistant speaks next: an answer is begun after the last message,
     * or the last message goes on, if it is the assistant's. */
    GG_CHAT_ANSWER = 1,
    GG_CHAT_BOS = 2,    /* BOS goes first, whatever the template says */
    GG_CHAT_NO_BOS = 4, /* it does not */
    GG_CHAT_STRICT = 8, /* as GG_ENCODE_STRICT */
    /* A placeholder of images or sounds that the template itself writes
     * becomes one of the ids below. */
    GG_CHAT_MEDIA = 16,
};

enum {
    GG_CHAT_IMAGE = -2, /* where rows of an image are to stand */
    GG_CHAT_SOUND = -3,
};

/* Fallback forms of messages, where a template refuses the form that they have,
 * or leaves it out. */
enum {
    GG_CHAT_JOINED = 1,   /* the parts of a content are one text */
    GG_CHAT_EMPTIED = 2,  /* a content of null, or none, is empty */
    GG_CHAT_SYSTEMED = 4, /* a developer is the system, a function a
                           * tool */
};

/* All that is 0 is the default. */
struct gg_chat_params {
    unsigned flags; /* GG_CHAT_... */
    /* The messages before this one stand in the sequence already, all but the
     * end of the last of them, which must be the assistant's: the ids go on
     * from there. */
    size_t first;
    int64_t date; /* what a template takes for now: seconds since 1970 UTC */
    /* Input of templates in Jinja: a JSON array of messages, with all that they
     * have, in place of those that are arguments; tools that the model may
     * call, a JSON array; more variables, a JSON object. Or NULL. Arguments of
     * calls in messages become what the template takes: objects, or JSON in a
     * string. */
    const char *messages, *tools, *arguments;
    unsigned *plainer; /* gets GG_CHAT_JOINED ..., added to those it has: the
                          fallback forms that were taken; or NULL */
    uintptr_t reserved[8];
};

/* Writes the ids of a conversation as gg_vocab_encode() does. What a template
 * refuses or leaves out is made plainer: the parts of a content are joined with
 * newlines, null becomes an empty text, a developer the system. What the
 * template itself writes becomes control tokens; contents, names and arguments
 * never do, whatever they hold. GG_ERR_ARG: there are no messages.
 * GG_ERR_FORMAT: the template fails, or refuses the conversation; the sentence
 * has its line. GG_ERR_UNSUPPORTED: the template, or a known form, has no place
 * for a message, or the vocabulary no token for it. NULL params: all zero. */
GG_API GG_MUST_CHECK enum gg_status
gg_chat_encode(const struct gg_vocab *vocab,
               const struct gg_chat_template *chat,
               const struct gg_message *messages, size_t n_messages,
               const struct gg_chat_params *params, int32_t *ids, size_t cap,
               struct gg_encoded *out, struct gg_error *err);

/* Writes the text that a template in Jinja makes of a conversation, not
 * NUL-ended: its first `cap` bytes; *len gets the number of all. */
GG_API GG_MUST_CHECK enum gg_status
gg_chat_render(const struct gg_vocab *vocab,
               const struct gg_chat_template *chat,
               const struct gg_message *messages, size_t n_messages,
               const struct gg_chat_params *params, char *text, size_t cap,
               size_t *len, struct gg_error *err);

/* How a model writes calls of tools, as its template shows them: what it
 * answers is read back by that. Immutable. */
struct gg_chat_calls;

/* Renders some calls to find their form; the vocabulary must live on.
 * GG_ERR_UNSUPPORTED: the template has no place for calls, or none that are
 * read back as they were; or this build reads no JSON. On GG_OK *out is the
 * caller's. */
GG_API GG_MUST_CHECK enum gg_status
gg_chat_calls_open(const struct gg_vocab *vocab,
                   const struct gg_chat_template *chat,
                   struct gg_chat_calls **out, struct gg_error *err);
GG_API void
gg_chat_calls_free(struct gg_chat_calls *calls); /* takes NULL */

/* "harmony", ...; "found" of one that is no known one. */
GG_API const char *
gg_chat_calls_name(const struct gg_chat_calls *calls);

struct gg_calls_read {
    size_t n;       /* bytes of JSON */
    size_t calls;   /* how many there are */
    size_t content; /* bytes of text before them; all, where there is none */
    size_t after;   /* bytes of text between and after them */
    uintptr_t reserved[3];
};

/* Reads the calls of an answer, whose text has control tokens shown, to a JSON
 * array as OpenAI has it: [{"id": ..., "type": "function", "function": {"name":
 * ..., "arguments": "JSON"}}]; not NUL-ended, its first `cap` bytes. Text that
 * stands between and after calls follows it. What is no call, as an answer that
 * was cut off in one, is none. An id that the answer has is kept, others are
 * made of nine letters and digits. `tools`, a JSON array as in gg_chat_params
 * or NULL, says which arguments are strings where the answer doesn't. Any bytes
 * will do; time is linear in them. */
GG_API GG_MUST_CHECK enum gg_status
gg_chat_calls_read(const struct gg_chat_calls *calls, const char *tools,
                   const char *text, size_t len, char *json, size_t cap,
                   struct gg_calls_read *out, struct gg_error *err);

/* Writes a grammar in GBNF of one or more calls of the tools, a JSON array, or
 * of one call of that with a name (or NULL), with what stands before and after
 * them, for gg_grammar_new(); control tokens are such. Arguments follow the
 * tools' schemas, as gg_grammar_from_schema() has them; there are no others
 * than they name, unless they say so. Not NUL-ended, its first `cap` bytes; *n
 * gets the number of all. GG_ERR_ARG: there is no such tool; else as
 * gg_grammar_from_schema(). */
GG_API GG_MUST_CHECK enum gg_status
gg_chat_calls_grammar(const struct gg_chat_calls *calls, const char *tools,
                      const char *name, char *text, size_t cap, size_t *n,
                      struct gg_error *err);

/* The arguments of gg_chat_params that switch the thoughts of the template's
 * model on or off, by the variable that the template reads; NULL: none is known
 * of it. */
GG_API const char *
gg_chat_reasoning(const struct gg_chat_template *chat, bool on);

/* Whether the template, which is one in Jinja, reads a variable; a built-in one
 * that has tools reads `tools`. */
GG_API bool
gg_chat_reads(const struct gg_chat_template *chat, const char *name);

/* A model writes thoughts, text and calls of tools. */
enum gg_part {
    GG_PART_TEXT = 0,
    GG_PART_REASONING = 1,
    GG_PART_CALLS = 2,
    GG_PART_ALL = 3, /* as it was written, but for the headers of messages */
};

/* How the answers of a template's model are parted. Immutable. */
struct gg_chat_reader;

/* By the marks of thoughts that the template writes, of those that are known,
 * and where calls of tools begin; without `calls`, which may be NULL, there are
 * none. The vocabulary outlives it, the others need not. */
GG_API GG_MUST_CHECK enum gg_status
gg_chat_reader_new(const struct gg_vocab *vocab,
                   const struct gg_chat_template *chat,
                   const struct gg_chat_calls *calls,
                   struct gg_chat_reader **out, struct gg_error *err);
GG_API void
gg_chat_reader_free(struct gg_chat_reader *reader); /* takes NULL */

/* Whether it knows marks of thoughts. */
GG_API bool
gg_chat_reader_thinks(const struct gg_chat_reader *reader);

/* ---- Model and session: token ids -> logits --------------------------- */

struct gg_model;    /* weights, mapped; immutable once open */
struct gg_pipeline; /* processes that have a part of its layers each */
struct gg_session;  /* key/value cache and compute buffers of a model */

/* An adapter changes a model without being part of it: LoRA (Hu et al.,
 * "LoRA: low-rank adaptation of large language models", 2021), or a control
 * vector, which is added to the hidden vectors after layers. A GGUF file, or a
 * folder of Hugging Face's PEFT. */
struct gg_adapter {
    const char *path;
    float scale; /* what it gives is multiplied by, where a chunk says nothing
                    else; 0: it is there, and does not count */
    /* Layers after which a control vector is added. The first layer, 0, has
     * none. Both 0: all. */
    int32_t first, last;
};

/* Layers whose experts (of a mixture) are on the CPU while a GPU computes the
 * rest: the first N, or */
enum {
    GG_EXPERTS_AS_FITS = 0,     /* as many as the GPUs have no room for */
    GG_EXPERTS_ALL_LAYERS = -1, /* all */
    GG_EXPERTS_NO_LAYERS = -2,  /* none that a GPU computes */
};

/* All that is 0 is the default. */
struct gg_model_params {
    /* "cpu"; "cuda": all GPUs; "cuda:N", "cuda:N,cuda:M", in the order of the
     * layers that they get; "auto" or NULL: GPUs where there are any, one where
     * that has room for all, else the CPU. */
    const char *device;
    bool no_mmap; /* read the file into memory instead of mapping it */
    bool lock;    /* keep it there: never swapped out; or GG_ERR_NOMEM */

    /* Rotary positions; NULL and 0: as the file says. Divisors of frequencies
     * that the file has stay, unless YaRN's take their place. */
    const char *rope_scaling; /* "none", "linear" or "yarn" */
    float rope_factor;        /* by which the context is scaled */
    float rope_base;          /* of the frequencies' powers */
    int32_t rope_n_ctx;       /* YaRN: the context of training */

    /* Layer offload: GPUs compute the last gpu_layers layers and the output,
     * the CPU the rest; 0: as many as fit in their memory, with a KV cache of
     * n_ctx positions (0: a usual number). Several have a part each, by how
     * much memory is free. */
    int32_t gpu_layers;
    int32_t n_ctx;

    /* Called with the bytes that have been copied to a GPU, of all; by one
     * thread at a time, which need not be the caller's. NULL: none. */
    void (*progress)(void *data, uint64_t done, uint64_t all);
    void *progress_data;

    /* Their files are opened with the model's, each tensor where that which it
     * changes is. GG_ERR_FORMAT: one was made for another model. */
    const struct gg_adapter *adapters;
    size_t n_adapters;

    /* MTP layers (multi-token prediction), which draft: they are computed, and
     * sessions keep what gg_engine_draft_mtp() needs; else they are passed
     * over. They are the file's, or, with a path, of a GGUF file that has
     * nothing else of the same model; or that is a drafter for it, which reads
     * its hidden vectors: gg_model_drafts(). GG_ERR_UNSUPPORTED: there are
     * none, or they are of a family whose are not known. With mtp_if_able the
     * file's are used where they are known and fit on the model's device, and
     * else passed over; gg_session_mtp() counts them. */
    bool mtp;
    bool mtp_if_able;
    const char *mtp_path; /* or NULL */

    /* The processes that have a part of the layers each, or NULL: this one has
     * all. All of them open the model; see gg_pipeline_join(). What is read
     * (no_mmap) or locked is this one's part. */
    struct gg_pipeline *pipeline;

    /* Instead of gpu_layers: how many each device gets, as many numbers as
     * there are devices. NULL and 0: nobody says. */
    const int32_t *device_layers;
    size_t n_device_layers;
    int32_t cpu_experts; /* GG_EXPERTS_AS_FITS and others, or of how many */

    uintptr_t reserved[3];
};

/* Asked of each tensor of a graph in the order in which they are computed:
 * with `ask`, whether it is wanted; if so, then, once it has been computed and
 * while its sources still hold what they did, to look at it, with
 * ggml_backend_tensor_get() of <ggml-backend.h>. False then ends the evaluation
 * with GG_ERR_ABORTED. Weights have the file's names; what is made with one is
 * called so, too, without its ending ("blk.0.attn_q"), anything else by layer
 * and op ("blk.0.rope#2"); the last is "logits". No two nodes of a graph have
 * the same name. */
struct ggml_tensor; /* <ggml.h> */
typedef bool (*gg_watch_callback)(struct ggml_tensor *t, bool ask, void *data);

/* ---- NUMA: machines whose memory is in nodes, each near some processors */

enum gg_numa {
    GG_NUMA_OFF,
    GG_NUMA_DISTRIBUTE, /* threads, and the weights that each reads, over all
                           nodes that the process may use; other memory in turn
                         */
    GG_NUMA_ISOLATE,    /* all threads on the node where the process runs */
};

/* For all models and threads of the CPU from then on; what they compute does
 * not change. To be called before any thread is started, and after
 * gg_pipeline_join(): a process of a pipeline, if its launcher has not bound it
 * to processors, takes its share of the machine's. `pipeline`: or NULL.
 * GG_ERR_UNSUPPORTED: built without hwloc. */
GG_API GG_MUST_CHECK enum gg_status
gg_numa_init(enum gg_numa how, const struct gg_pipeline *pipeline,
             struct gg_error *err);
/* How many nodes were chosen; where i is one of them, from 0, what the system
 * calls it and how many of its processors are used. */
GG_API int32_t
gg_numa_nodes(int32_t i, int32_t *index, int32_t *n_cpus);

/* ---- a pipeline of processes
 *
 * Processes of an MPI job, ranks 0 to n - 1, evaluate one model: each has some
 * of its layers, one after the other. The program on rank 0 opens the model and
 * uses it as any other; the others serve it until it leaves. Results have the
 * bits of one process, where all processors compute alike. */

/* Takes part in the job that the program was started in by mpirun, mpiexec or
 * srun. `module`: "openmpi", "mpich" or a path with a slash; NULL: what
 * $GG_MPI_MODULE says, or the launcher's environment. `layers`: how many each
 * rank has, "24,24,16,16"; NULL: by its free memory. To be called before any
 * thread is started; once in a process. */
GG_API GG_MUST_CHECK enum gg_status
gg_pipeline_join(const char *module, const char *layers,
                 struct gg_pipeline **out, struct gg_error *err);

/* A rank of n that nobody has started, all with equal memory, or each with its
 * number in `layers`: a model that is opened with it can be measured by
 * gg_model_memory(), and has no sessions. */
GG_API GG_MUST_CHECK enum gg_status
gg_pipeline_plan(int32_t rank, int32_t n, const char *layers,
                 struct gg_pipeline **out, struct gg_error *err);

GG_API int32_t
gg_pipeline_rank(const struct gg_pipeline *pipeline);

GG_API int32_t
gg_pipeline_size(const struct gg_pipeline *pipeline);

/* Work of a rank other than 0, apart from evaluating its layers. */
struct gg_serve_params {
    int32_t n_threads; /* 0: as many as there are processors, shared by the
                          ranks of a machine */
    gg_watch_callback watch; /* of its sessions: as rank 0's has one, too */
    void *watch_data;
    /* Answers gg_pipeline_ask() with *n bytes, which live until the next call
     * or the end. NULL: none. */
    const void *(*answer)(void *data, size_t *n);
    void *answer_data;
    uintptr_t reserved[8];
};

/* A rank other than 0 opens `path`, as params say, whenever rank 0 opens its
 * model, and evaluates its layers until rank 0 leaves. NULL serve: all zero. An
 * error is said by rank 0, too, unless that is lost. */
GG_API GG_MUST_CHECK enum gg_status
gg_pipeline_serve(struct gg_pipeline *pipeline, const char *path,
                  const struct gg_model_params *params,
                  const struct gg_serve_params *serve, struct gg_error *err);

/* Rank 0: what the program of another rank answers, once it has done all that
 * was to be done before; *bytes live until the next call. */
GG_API GG_MUST_CHECK enum gg_status
gg_pipeline_ask(struct gg_pipeline *pipeline, int32_t rank, const void **bytes,
                size_t *n, struct gg_error *err);

/* After all of its models; ranks end as they are told. Takes NULL. */
GG_API void
gg_pipeline_leave(struct gg_pipeline *pipeline);

/* Maps `path`. Unless it is read (no_mmap), the file must not shrink while the
 * model lives. */
GG_API GG_MUST_CHECK enum gg_status
gg_model_open(const char *path, const struct gg_model_params *params,
              struct gg_model **out, struct gg_error *err);

GG_API void
gg_model_free(struct gg_model *model);

/* A diagnostic for the user: that not all layers are offloaded, for lack of GPU
 * memory, or that, though `device` is "auto", there is none, or it has
 * failed while weights were copied; and gg_file_note(). NULL: there is nothing
 * to say. Lives as long as the model. */
GG_API const char *
gg_model_note(const struct gg_model *model);

/* "CUDA0", "CPU": what computes the output, and all layers unless there is a
 * note; and a description. Static. */
GG_API const char *
gg_model_device(const struct gg_model *model);
GG_API const char *
gg_model_device_description(const struct gg_model *model);

/* How many adapters it was opened with, and bytes of all (or NULL). */
GG_API size_t
gg_model_n_adapters(const struct gg_model *model, uint64_t *bytes);

/* How many layers GPUs compute. */
GG_API int32_t
gg_model_gpu_layers(const struct gg_model *model);

/* A device that has layers of the model: the CPU is the first, the GPUs follow
 * in the order of their layers. */
struct gg_home {
    const char *device, *description; /* "CUDA0"; static */
    uint64_t weights;                 /* bytes, mapped or not */
};
GG_API size_t
gg_model_n_homes(const struct gg_model *model);
/* False: there is no device i. */
GG_API bool
gg_model_home(const struct gg_model *model, size_t i, struct gg_home *out);

GG_API int32_t
gg_model_n_layers(const struct gg_model *model);
/* The device that computes a layer, and has its KV cache; or that of its
 * experts alone. Layer gg_model_n_layers() is the output. */
GG_API size_t
gg_model_home_of(const struct gg_model *model, int32_t layer, bool experts);

/* True if models of that family ("llama": the value of general.architecture)
 * can be run. */
GG_API bool
gg_model_known(const char *architecture);

/* True if files of that architecture are drafters, which are opened next to the
 * model that they draft for: gg_model_params.mtp_path. */
GG_API bool
gg_model_drafts(const char *architecture);

/* The architecture of the model's drafter; "mtp" if MTP layers are in use; NULL
 * if nothing is. A static string. */
GG_API const char *
gg_model_drafter(const struct gg_model *model);

/* The families that can be run, in alphabetical order: the name of number i;
 * NULL after the last. Static strings. */
GG_API const char *
gg_model_family(size_t i);

/* The last keys that attention sees in layers with a sliding window, as the
 * family of a file, of gg_file_gguf(), takes it: some have none, whatever the
 * file says. 0: no window, or no family that is known. */
GG_API int32_t
gg_model_window(const struct gguf_context *gguf);

/* Owned by the model. */
GG_API const struct gg_vocab *
gg_model_vocab(const struct gg_model *model);
GG_API const char *
gg_model_architecture(const struct gg_model *model);
GG_API int32_t
gg_model_n_vocab(const struct gg_model *model);
GG_API int32_t
gg_model_n_ctx_train(const struct gg_model *model);

/* The length of a hidden vector, and mostly of an embedding. */
GG_API int32_t
gg_model_n_embd(const struct gg_model *model);

/* An encoder (BERT, nomic-bert) makes embeddings and no logits. Its
 * attention is not causal: a text is one chunk, in an empty slot; then, to be
 * used again, gg_session_truncate() empties it. */
GG_API bool
gg_model_is_encoder(const struct gg_model *model);

/* Ids of a chunk that an embedding is made of. */
enum gg_pooling {
    GG_POOL_MEAN = 0, /* the mean of all */
    GG_POOL_LAST = 1,
    GG_POOL_CLS = 2,    /* the first */
    GG_POOL_RANK = 3,   /* no embedding but scores, of a classifier of texts */
    GG_POOL_NONE = 4,   /* of each id alone: a vector each, not pooled */
    GG_POOL_TOKENS = 5, /* the same, but scores, of a classifier of tokens */
};

/* Values of a vector that is made so: gg_model_n_embd(), or what the dense
 * layers after the pooling give, which may be more; of GG_POOL_RANK and
 * _TOKENS gg_model_n_scores(). */
GG_API int32_t
gg_model_vector_length(const struct gg_model *model, enum gg_pooling pooling);

/* How many scores a reranker or another classifier gives, GG_POOL_RANK or
 * _TOKENS; never more than an embedding has values. 0: the file has no
 * classifier. */
GG_API int32_t
gg_model_n_scores(const struct gg_model *model);

/* How the scores of a classifier become probabilities. */
enum gg_problem {
    GG_PROBLEM_ONE = 0,  /* one label is right: softmax */
    GG_PROBLEM_MANY = 1, /* each label by itself: sigmoid */
    GG_PROBLEM_NONE = 2, /* regression: a score is wanted, as it is */
};

/* A file's head with labels. */
struct gg_classifier {
    enum gg_pooling pooling; /* GG_POOL_RANK: of a text, or a pair of them;
                                GG_POOL_TOKENS: of each id */
    enum gg_problem problem;
    int32_t n; /* scores: gg_model_n_scores() */
    uintptr_t reserved[4];
};

/* GG_ERR_UNSUPPORTED: the file has none. Where its key
 * ARCH.classifier.problem_type says nothing, one label is right; of a single
 * one the score becomes a probability by itself. */
GG_API GG_MUST_CHECK enum gg_status
gg_model_classifier(const struct gg_model *model, struct gg_classifier *out,
                    struct gg_error *err);

/* The name of score i, as ARCH.classifier.output_labels has it; not
 * NUL-ended, *len gets its bytes. NULL: it has none. Owned by the model. */
GG_API const char *
gg_model_label(const struct gg_model *model, int32_t i, size_t *len);

/* Makes probabilities, p[0..n), of the scores[0..n) of a text or an id; of a
 * regression they stay. GG_ERR_ARG: a problem that is none, n below 1. */
GG_API GG_MUST_CHECK enum gg_status
gg_classifier_rate(const struct gg_classifier *classifier, const float *scores,
                   double *p, struct gg_error *err);

/* The pooling that the file names, whose key ARCH.pooling_type is 0 for none,
 * 1 for the mean, 2 for cls, 3 for last. GG_ERR_FORMAT: the file does not say,
 * or says something else. */
GG_API GG_MUST_CHECK enum gg_status
gg_model_pooling(const struct gg_model *model, enum gg_pooling *pooling,
                 struct gg_error *err);

/* The type of the KV cache, or of its keys or values alone. Types below 8 bits
 * are for models whose heads have keys and values each, of a multiple of 32. */
enum gg_cache_type {
    GG_CACHE_F16 = 0,
    GG_CACHE_F32 = 1,
    GG_CACHE_Q8_0 = 2,
    GG_CACHE_BF16 = 3,
    GG_CACHE_Q5_0 = 4,
    GG_CACHE_Q4_0 = 5,
};

/* All that is 0 is the default. */
struct gg_session_params {
    int32_t n_ctx;     /* context: positions of a slot; 0: the model's own */
    int32_t n_slots;   /* sequences in the KV cache; 0: 1 */
    int32_t n_batch;   /* ids evaluated in one batch at most; 0: 512 */
    int32_t n_threads; /* 0: the processors that this process may use */
    enum gg_cache_type cache_type; /* of keys, and of values, see below */
    /* Asked between nodes: true ends the evaluation with GG_ERR_ABORTED; may be
     * NULL. */
    bool (*abort)(void *data);
    void *abort_data;
    /* Weights of F16, and activations, may be rounded to BF16 where the
     * processor has such products: 8 bits of mantissa, not 11. */
    bool bf16;
    bool profile; /* measure time by op: gg_session_profile() */
    /* Shown what is computed, of a pipeline by this rank; may be NULL */
    gg_watch_callback watch;
    void *watch_data;

    /* Called, in any call, when a GPU has failed: one sentence with the reason,
     * which ends by saying that the CPU computes. NULL: none. */
    void (*warn)(void *data, const char *sentence);
    void *warn_data;

    /* Called in an evaluation with the ids that are done, of all: with 0 first,
     * after each batch, and with all at the end, also of a call that failed. By
     * the caller's thread; not in a pipeline. NULL: none. */
    void (*progress)(void *data, uint64_t done, uint64_t all);
    void *progress_data;

    enum gg_cache_type value_type; /* of values, */
    bool has_value_type;           /* which is not cache_type */
    /* Keys and values of types below 8 bits are kept as they are, not rotated
     * by a Hadamard matrix. */
    bool no_rotation;
    /* In a model with an encoder and a decoder: as many ids of each sequence,
     * from its first on, are the encoder's. 0: those before the first id that
     * the decoder begins with, decoder_start_token_id of its file. */
    int32_t n_encoder_ids;

    uintptr_t reserved[4];
};

/* All 0. */
GG_API struct gg_session_params
gg_session_params_default(void);

/* The model must outlive its sessions. One thread at a time per session.
 *
 * A GPU that was not named may fail: be lost, or run out of memory. The session
 * then continues on the CPU: the ids of its slots are evaluated again when
 * these are used next, then the failed chunk, and results are the CPU's. With
 * `watch`, which would be called twice, or with a GPU that was named, an
 * evaluation that fails ends with GG_ERR_IO or GG_ERR_NOMEM. */
GG_API GG_MUST_CHECK enum gg_status
gg_session_new(const struct gg_model *model,
               const struct gg_session_params *params, struct gg_session **out,
               struct gg_error *err);

/* Bytes. */
struct gg_memory {
    uint64_t weights; /* of the model and its adapters, mapped or not */
    uint64_t cache;   /* of a session: touched as it is used */
    uint64_t compute; /* buffers of a session */
    /* Snapshots of recurrent states, which are not in the cache: their bytes,
     * taken when the first one is made, and their number. */
    uint64_t snapshots, n_snapshots;
    /* Bytes of MTP layers in use: of the weights and of the cache. */
    uint64_t mtp_weights, mtp_cache;
};

/* The layers that this process has, *first to *end - 1, and returns how many
 * the model has in all. */
GG_API int32_t
gg_model_layers(const struct gg_model *model, int32_t *first, int32_t *end);

/* Memory that the model and a session with these parameters (NULL: the
 * defaults) need, whether or not the device has it. Allocates none of it. */
GG_API GG_MUST_CHECK enum gg_status
gg_model_memory(const struct gg_model *model,
                const struct gg_session_params *params, struct gg_memory *out,
                struct gg_error *err);
/* Memory needed on device i alone. */
GG_API GG_MUST_CHECK enum gg_status
gg_model_home_memory(const struct gg_model *model, size_t i,
                     const struct gg_session_params *params,
                     struct gg_memory *out, struct gg_error *err);

GG_API void
gg_session_free(struct gg_session *session);

GG_API int32_t
gg_session_n_ctx(const struct gg_session *session);
GG_API int32_t
gg_session_n_slots(const struct gg_session *session);

/* The likeliest ids, found where the logits are: no more than these then leave
 * a GPU. The caller gives k and room for k ids and logits; n gets k, and the
 * rest what was found: in falling order, the lower id first among equals, with
 * the logarithm of the sum of exp() of all logits. Where a logit is NaN or
 * infinity, or all are -infinity, that is no finite number, and the rest says
 * nothing. */
struct gg_best {
    size_t k;
    int32_t *ids;
    float *logits;
    size_t n;
    double log_sum_exp;
    bool no_sum; /* the sum, which takes the CPU a while, is not wanted: some
                    finite number in its place will do */
};

/* Results wanted of ids that are evaluated: all 0 is none. */

/* Logits after each of the last n_last ids (0 is 1). */
struct gg_rows {
    size_t n_last;        /* no more than the ids */
    float *logits;        /* NULL; or gets n_vocab values a row */
    struct gg_best *best; /* NULL; or one a row, in place of logits, which may
                             be NULL and gets nothing */
};

/* Logarithms of probabilities. Memory for these is taken when they are wanted
 * first, and does not grow with the ids. */
struct gg_scores {
    /* NULL; or logprobs[i] gets the natural logarithm of the probability of
     * ids[first + i], given all ids before it; `first` is no more than the
     * number of ids, and 0 counts as 1, as nothing precedes the first id. The
     * id of a row, which is given, gets 0. */
    float *logprobs;
    size_t first;
    /* NULL; or n_next ids (0 is 1) that are not evaluated, but each could be
     * the one after the last: logprobs then ends with a value for each. */
    const int32_t *next;
    size_t n_next;
};

/* The pooled hidden states of the ids after the last norm, through the dense
 * layers that some files have after it: gg_model_vector_length() values, not
 * normalised to a length. GG_POOL_NONE: as many for each id, without these
 * layers. GG_POOL_RANK: gg_model_n_scores() values, of the classifier; the ids
 * are a text, or a query and a document in the model's form, and all after
 * the first separator is of the second kind, where the model knows kinds.
 * GG_POOL_TOKENS: as many for each id. */
struct gg_embedding {
    float *values; /* NULL: none */
    enum gg_pooling pooling;
};

/* Ids to append to a slot and evaluate: prefill, or decoding of a single id. */
struct gg_chunk {
    int32_t slot;       /* below n_slots */
    const int32_t *ids; /* of tokens, or of rows: gg_session_add_rows() */
    size_t n;           /* at least 1 */
    struct gg_rows rows;
    struct gg_scores scores;
    struct gg_embedding embed;
    /* How much each of the model's adapters counts, gg_model_n_adapters()
     * numbers; NULL: as the model was opened with them. A slot goes on with
     * those that it began with: else GG_ERR_ARG. */
    const float *scales;
    /* A piece of a run of ids, the rest of which is still to come: recurrent
     * layers keep no place here that they could go back to. */
    bool goes_on;
    uintptr_t reserved[2];
};

enum {
    GG_MEDIUM_HASH = 32, /* bytes of a SHA-256 */
};

/* An image or a sound, as vectors that stand in the place of embeddings. */
struct gg_medium {
    /* Identity: media with the same hash are the same. States say by it which
     * media they hold. */
    uint8_t hash[GG_MEDIUM_HASH];
    size_t n;     /* rows, at least 1 */
    size_t width; /* values of each: gg_model_n_embd() */
    /* n * width: what enters the first layer, after the scale and the norm
     * that the model has for embeddings. */
    const float *rows;
    /* n_deeper * n * width: what is added after the layers 0, 1, ... */
    const float *deeper;
    size_t n_deeper;
    /* NULL: a row takes a position, as a token does. Or three numbers a row, of
     * time, height and width (M-RoPE), counted from where a run of rows of the
     * medium begins; what follows the run goes on after the largest. */
    const int32_t *positions;
    /* NULL: a row sees what stands before it. Or a number a row: those next to
     * each other with the same number, 0 or above, are a block. They see each
     * other, and are evaluated at once: a chunk has none of them, or all, in
     * their order. -1: the row is in none. */
    const int32_t *blocks;
    uintptr_t reserved[4];
};

/* Copies a medium; its rows then stand in chunks as the ids *first, *first + 1,
 * ..., which begin at gg_model_n_vocab(). One that was added before has the
 * ids that it got then. No sampler draws them, and of them there are no
 * log-probabilities. GG_ERR_ARG: rows of another width, a block that is longer
 * than a batch, or other rows with the same hash; GG_ERR_UNSUPPORTED: the model
 * has no place for what is given. */
GG_API GG_MUST_CHECK enum gg_status
gg_session_add_rows(struct gg_session *session, const struct gg_medium *medium,
                    int32_t *first, struct gg_error *err);

/* Frees what was copied of the medium whose ids begin at `first`. What slots
 * hold of it stays, as do its ids; to be evaluated again, it is to be added
 * again: until then GG_ERR_ARG. */
GG_API void
gg_session_forget_rows(struct gg_session *session, int32_t first);

/* Evaluates the chunks; no two may name the same slot. A chunk's logits do not
 * depend on other chunks, nor on the number of threads; those with other
 * adapters are evaluated by themselves. On failure a slot
 * holds what it held before (GG_ERR_CONTEXT: it would not fit), or nothing,
 * where layers that keep but a window have moved on: gg_session_length(); of
 * what logits hold then, nothing is known. */
GG_API GG_MUST_CHECK enum gg_status
gg_session_eval(struct gg_session *session, const struct gg_chunk *chunks,
                size_t n_chunks, struct gg_error *err);

/* The number of ids that the slot holds; 0 for one that there is not. */
GG_API int32_t
gg_session_length(const struct gg_session *session, int32_t slot);

/* Forgets all but the first `n` ids of the slot. Returns the number that it
 * holds then, which may be less than n and is 0 at worst: layers that keep but
 * a window may have given up what the next id would have to see, and an encoder
 * goes on from no part of a text. */
GG_API int32_t
gg_session_truncate(struct gg_session *session, int32_t slot, int32_t n);

/* Slot `to` forgets what it holds and gets the first `n` ids of slot `from`,
 * as if it had evaluated them. Returns the number that it holds then, as
 * gg_session_truncate() does; slot `from` stays as it is. On the CPU slots have
 * most keys and values of a common prefix together, where layers see all of
 * them: a copy takes little memory, and sequences that are evaluated together
 * read these once. */
GG_API int32_t
gg_session_copy(struct gg_session *session, int32_t to, int32_t from,
                int32_t n);

/* Bytes of the KV cache, of the compute buffers; either may be NULL. */
GG_API void
gg_session_memory(const struct gg_session *session, size_t *cache,
                  size_t *compute);

/* Whether the model's weights are larger than the memory that was free for them
 * when the session was made, so that the CPU reads them from disk as it needs
 * them, and which stay there depends on their use: bytes of the weights, and of
 * that memory. NULL: not wanted. Results are the same. */
GG_API bool
gg_session_streams(const struct gg_session *session, uint64_t *weights,
                   uint64_t *memory);

/* How many MTP layers, or layers of a drafter, are in use, and their bytes,
 * which are among the others: of weights, and, with hidden vectors that are
 * kept for them, of the cache. NULL: not wanted. */
GG_API int32_t
gg_session_mtp(const struct gg_session *session, size_t *weights,
               size_t *cache);

/* How many snapshots of recurrent states the session can keep, and bytes of all
 * of them (or NULL), which are allocated when the first one is made. 0: the
 * model has no such states. */
GG_API int32_t
gg_session_snapshots(const struct gg_session *session, size_t *bytes);

/* Bytes of the cache that were ever written: the rest takes no memory on the
 * CPU. What slots have in common counts once. */
GG_API size_t
gg_session_used(const struct gg_session *session);

/* Bytes of these that several slots have in common, and how many slots have a
 * part of them (or NULL): rows of layers that see all keys, by blocks of 256
 * positions. Rows of windowed layers, recurrent states and layers with an
 * indexer are copied, and all memory of a GPU. */
GG_API size_t
gg_session_shared(const struct gg_session *session, int32_t *n_slots);

enum gg_profile_phase {
    GG_PROFILE_PREFILL = 0, /* some sequence got several ids at once */
    GG_PROFILE_DECODE = 1,  /* each got one */
};

/* A profile of evaluations. A row is of one kind of op ("mul_mat q4_K"), time
 * outside of ops ("other": building graphs, inputs, readback of logits), a
 * thread ("thread 0"), or all of a phase ("total"). Threads have been busy,
 * waiting for others to end an op, or idle while one worked alone. */
struct gg_profile_row {
    enum gg_profile_phase phase;
    char name[40];                /* "mul_mat q4_K", "norm CUDA0" */
    uint64_t calls;               /* nodes; pieces of a thread; graphs */
    uint64_t ns;                  /* wall-clock time */
    uint64_t busy, waiting, idle; /* ns of all threads together */
    uint64_t bytes, ops;          /* moved and done, by the ops' shapes; or 0 */
};

/* The rows so far: prefill before decoding, and in each phase kinds of ops by
 * their time, other, threads, total. A phase that did not occur has none.
 * What no device counts is in other. Owned by the session until the
 * next call on it; *n gets their number: 0 where it was not asked to count. */
GG_API const struct gg_profile_row *
gg_session_profile(struct gg_session *session, size_t *n);

/* ---- State: what sessions hold, as a file: gg-stream(5) ------------------ */

/* A sequence of ids, and how much of it a slot holds. */
struct gg_state_sequence {
    uint64_t number;    /* 0 where sequences have none */
    uint64_t n_dropped; /* ids that stood before these and were dropped for
                           room: below 2^62; positions go on */
    const int32_t *ids;
    size_t n_ids;     /* at least 1 */
    size_t n_pending; /* of these the last, which a program has made and not
                         evaluated yet: the next chunk begins with them */
    size_t n_held;    /* the first of them whose keys and values are there */
    int32_t slot;     /* saving: that holds them; loading: -1 */
};

/* Numbers of sequences that must not begin anew, as what they held was given
 * up. */
struct gg_state_range {
    uint64_t first, last;
};

struct gg_state {
    bool numbered; /* otherwise there is at most one sequence, number 0 */
    const struct gg_state_sequence *sequences; /* the last used is the last */
    size_t n_sequences;
    const struct gg_state_range *forgotten; /* in order, with gaps between */
    size_t n_forgotten;
    const char *chat; /* the template of a conversation, NUL-ended, whose last
                         message is the assistant's, all but its end; NULL: the
                         sequence is none */
    int64_t date;     /* what its template takes for now; 0: it does not matter,
                         or is not known */
    bool has_mirostat;
    double mirostat; /* gg_history_mirostat() of the one without a number */
    const char *sampling; /* that it began with: gg_vocab_sampling(); or NULL */
};

/* Writes the state with keys and values of the session's slots to `path`: under
 * a temporary name next to it that is renamed when all is on the disk, so that
 * whatever happens, the old file is there or the new one, whole. A file that is
 * replaced gives it its mode. Takes little memory of its own: keys and values
 * are copied in small pieces, wherever they are; those of a GPU that has failed
 * are left out, as they can be had from the ids. GG_ERR_ARG: `path` is no
 * regular file. GG_ERR_UNSUPPORTED: a slot holds ids that were evaluated with
 * other scales of adapters than the model's. */
GG_API GG_MUST_CHECK enum gg_status
gg_session_save(struct gg_session *session, const struct gg_state *state,
                const char *path, struct gg_error *err);
/* Like it, over the content of a regular file that is open for writing. */
GG_API GG_MUST_CHECK enum gg_status
gg_session_write(struct gg_session *session, const struct gg_state *state,
                 int fd, struct gg_error *err);

struct gg_state_file; /* open, mapped */

/* Opens a state for that session, whatever session has saved it: with any
 * number of slots, threads, positions, on any device. All of the file is
 * checked. GG_ERR_UNSUPPORTED: it was made with another model, other adapters
 * or other scales of them, other rotary positions, its keys and values are of
 * another type, or it holds rows of a medium that the session has otherwise. Of
 * one that it has not, it learns what it takes to go on after it: rows are to
 * be given where they are to be evaluated again, and in a pipeline before. The
 * file must not be written to while it is open; that it is replaced by
 * gg_session_save() does no harm. */
GG_API GG_MUST_CHECK enum gg_status
gg_state_open(const char *path, struct gg_session *session,
              struct gg_state_file **out, struct gg_error *err);

GG_API void
gg_state_close(struct gg_state_file *file); /* takes NULL */

/* The file's contents; ids are of tokens, or of rows as the session numbers
 * them; numbers of sequences differ. Lives as long as the file is open. */
GG_API const struct gg_state *
gg_state_get(const struct gg_state_file *file);

/* The slot gives up what it holds and gets the first n_held ids of sequence
 * number i of the file, counted from 0, as if it had evaluated them; or none,
 * where there are more of these than its context has positions. Returns how
 * many it holds. */
GG_API int32_t
gg_session_load(struct gg_session *session, int32_t slot,
                const struct gg_state_file *file, size_t i);

/* ---- Sampler: logits -> the next token id ------------------------------ */

struct gg_sampler; /* one thread at a time */

/* A grammar: which texts can be made of a vocabulary's tokens. One thread at a
 * time; the samplers that use it count as one. */
struct gg_grammar;

/* Compiles GBNF, the notation of llama.cpp (grammars/README.md there): rules,
 * of which `root` is the text; alternatives, groups, strings with escapes,
 * classes of characters, ".", * + ? {m,n}, comments; <[10]> or <|x|> for the
 * token of that id or text, !<[10]> for any other. Tokens may end in the middle
 * of a character. Those that are no text, as control tokens, are allowed where
 * they are named and nowhere else, but for the vocabulary's ends of generation:
 * a text may end where the grammar does, and they are allowed then. An end that
 * is named is allowed there, too. GG_ERR_FORMAT names the line, or the rule
 * that begins with itself; GG_ERR_UNSUPPORTED: it is too large. The vocabulary
 * need not outlive it. */
GG_API GG_MUST_CHECK enum gg_status
gg_grammar_new(const struct gg_vocab *vocab, const char *text, size_t len,
               struct gg_grammar **out, struct gg_error *err);

/* Compiles a JSON schema (json-schema.org, drafts 4 to 2020-12): texts are JSON
 * without blanks, but for one that may follow a comma or a colon, and valid;
 * not all that is valid can be drawn: members stand in the schema's order. What
 * is wrong with the text, or cannot be kept to (not, if, uniqueItems, ...), is
 * GG_ERR_FORMAT with its line or its path in the schema; GG_ERR_UNSUPPORTED: it
 * is too large, or this build reads no JSON. Else as gg_grammar_new(). */
GG_API GG_MUST_CHECK enum gg_status
gg_grammar_from_schema(const struct gg_vocab *vocab, const char *text,
                       size_t len, struct gg_grammar **out,
                       struct gg_error *err);

/* After all samplers and histories that use it. */
GG_API void
gg_grammar_free(struct gg_grammar *grammar); /* takes NULL */

struct gg_bias {
    int32_t id;
    float add; /* to its logit; -infinity: never drawn */
};

/* A number of a stage of the sampler chain. */
struct gg_sampler_value {
    const char *name; /* "top-k" */
    double value;
};

/* A value out of range is GG_ERR_ARG. All that is 0 is the default, which is
 * off unless a number is said. Biases and the grammar come first; then what is
 * on acts in this order: penalties, DRY, top-n-sigma, temperature, top-k,
 * typical, eta cutoff, top-p, min-p, XTC, adaptive-p. Mirostat, where it is on,
 * takes the place of all that follow the temperature, and of top-n-sigma. */
struct gg_sampler_params {
    bool greedy;       /* draws the likeliest, whatever the temperature */
    float temperature; /* divides the logits (0.8) */
    int32_t top_k;     /* keeps the k most likely (40); -1: all */
    float top_p; /* up to the token at which their sum is p (0.95); 1: all */
    float min_p; /* at least this share of the likeliest one's */
    uint64_t seed;

    /* Keeps the tokens whose -ln p is nearest to the entropy, up to the one at
     * which their sum is p. C. Meister et al., "Locally typical
     * sampling", 2022. */
    float typical_p;
    /* Keeps logits no further below the highest than this number of standard
     * deviations, taken over all that are finite. C. Tang et al., "Top-n-sigma:
     * not all logits are you need", 2024. */
    float top_n_sigma;
    /* With this probability, of all tokens with at least the probability
     * xtc_threshold (0.1) only the least likely stays. "Exclude top choices",
     * p-e-w, 2024. */
    float xtc_probability, xtc_threshold;

    /* Penalties of ids among the last penalty_last_n (64; -1: all): a logit
     * above 0 is divided by `repeat`, another multiplied by it (1: neither;
     * N. Keskar et al., "CTRL", 2019); then `frequency` is taken off for each
     * time that the id is there, and `presence` once, as OpenAI's interface
     * defines them. */
    float repeat_penalty, frequency_penalty, presence_penalty;
    int32_t penalty_last_n;

    /* "Don't repeat yourself", p-e-w, 2024: where the last ids of a sequence,
     * n of them, have been there before, the logit of the id that followed is
     * lowered by multiplier * base^(n - allowed_length), for the largest n, if
     * that is no less than allowed_length (base 1.75, length 2). Among the last
     * dry_last_n ids (-1, the default: all); a repetition begins after a
     * breaker, and none is lowered itself.
     */
    float dry_multiplier, dry_base;
    int32_t dry_allowed_length, dry_last_n;
    const int32_t *dry_breakers; /* copied */
    size_t n_dry_breakers;

    const struct gg_bias *bias; /* copied; of one id all are added; an id that
                                   is beyond the vocabulary is GG_ERR_ARG
                                   when it is drawn from */
    size_t n_bias;

    /* 1 or 2: keeps what holds the surprise, in bits, at tau (5), learning at
     * the rate eta (0.1). S. Basu et al., "Mirostat: a neural text decoding
     * algorithm that directly controls perplexity", 2021; 2 is its simpler
     * successor by the same authors. */
    int32_t mirostat;
    float mirostat_tau, mirostat_eta;

    /* Draws stay within the grammar. It outlives the sampler; NULL: none. */
    struct gg_grammar *grammar;

    /* Stages in the order in which they act, separated by ';' or ',': of
     * penalties, dry, top-n-sigma, temperature, top-k, typical-p, eta-cutoff,
     * top-p, min-p, xtc and adaptive-p, which is the last one wherever it
     * stands; or as llama.cpp names them (top_k, topk, temp, typ_p). Others do
     * not act; NULL: all, in this order. Probabilities are those of the tokens
     * that the stages before have left, at the temperature if it is one of
     * these. Greedy takes the likeliest in any case. Where some logits are not
     * enough for a stage of a named order, drawing from them is
     * GG_ERR_UNSUPPORTED. Read by gg_sampler_new() only. */
    const char *stages;

    /* Numbers of stages by name, of which 0 is one like any other: they count
     * more than members do, and later ones more than earlier. Stages that have
     * no member are told by these alone: dynatemp-range and dynatemp-exponent
     * of the temperature, adaptive-target and adaptive-decay of adaptive-p, and
     * eta-cutoff: what is less likely than both it and its square root times
     * exp(-entropy) is dropped (J. Hewitt et al., "Truncation Sampling as
     * Language Model Desmoothing", 2022). Read by gg_sampler_new() only. */
    const struct gg_sampler_value *values;
    size_t n_values;

    uintptr_t reserved[5];
};

/* Parameters that mean what all 0 means, with the defaults' numbers. */
GG_API struct gg_sampler_params
gg_sampler_params_default(void);

/* A number that a stage reads. */
struct gg_sampler_parameter {
    const char *name;
    double min, max, fallback;
    bool whole;
};

/* Number i of those of all stages: 0, 1 ...; NULL: there are no more. */
GG_API const struct gg_sampler_parameter *
gg_sampler_parameter_at(size_t i);

/* Writes what a file says of sampling as a line "temp=0 top_k=20" of printable
 * ASCII: keys without "general.sampling.", values as they stand, in range or
 * not; '?' is one that is neither number nor text. Returns the
 * length of the line, 0 where the file says nothing; what fits is written, with
 * a NUL. `line` may be NULL where `size` is 0. */
GG_API size_t
gg_sampling_of_file(const struct gguf_context *gguf, char *line, size_t size);

/* NULL: the defaults. */
GG_API GG_MUST_CHECK enum gg_status
gg_sampler_new(const struct gg_sampler_params *params, struct gg_sampler **out,
               struct gg_error *err);

GG_API void
gg_sampler_free(struct gg_sampler *sampler);

/* How many of the likeliest logits are enough to draw as of all; 0: none but
 * all are. */
GG_API size_t
gg_sampler_enough(const struct gg_sampler *sampler);

struct gg_candidate {
    int32_t id;
    float logit;
    float p;
};

/* The candidates that the chain leaves of logits[0..n), most likely first,
 * ties by lower id, with probabilities that sum to 1. `ids` names the tokens
 * (NULL: 0, 1, 2 ...). Owned by the sampler until its next call. Logits may be
 * -infinity, never NaN or +infinity: GG_ERR_FORMAT. Of a sequence with no ids,
 * and without XTC. */
GG_API GG_MUST_CHECK enum gg_status
gg_sampler_candidates(struct gg_sampler *sampler, const int32_t *ids,
                      const float *logits, size_t n,
                      const struct gg_candidate **out, size_t *n_out,
                      struct gg_error *err);

/* State of drawing for a sequence: its last ids, Mirostat's state, the place in
 * the grammar that the drawn ids have reached. */
struct gg_history;

/* History of a sequence without ids, for draws by a sampler of these
 * parameters. */
GG_API GG_MUST_CHECK enum gg_status
gg_history_new(const struct gg_sampler *sampler, struct gg_history **out,
               struct gg_error *err);
GG_API void
gg_history_free(struct gg_history *history); /* takes NULL */

/* Appends ids to the sequence: a prompt, or those that were drawn. */
GG_API GG_MUST_CHECK enum gg_status
gg_history_add(struct gg_history *history, const int32_t *ids, size_t n,
               struct gg_error *err);

/* The state of Mirostat, for a sequence that is continued later: the greatest
 * surprisal, in bits, that it allows; or that of adaptive-p: the mean
 * probability of what was drawn, which takes no number that is none. */
GG_API double
gg_history_mirostat(const struct gg_history *history);
GG_API void
gg_history_set_mirostat(struct gg_history *history, double value);

/* False where the grammar wants more than what was drawn. */
GG_API bool
gg_history_is_complete(const struct gg_history *history);

/* Another answer begins: the grammar does, too. */
GG_API void
gg_history_restart(struct gg_history *history);

/* True where draws depend on what the sequence was: penalties, DRY, Mirostat, a
 * grammar. */
GG_API bool
gg_sampler_remembers(const struct gg_sampler *sampler);

struct gg_draw {
    int32_t id;
    double logprob; /* natural logarithm of its probability in the chain */
};

/* Draws one of the candidates: a pure function of the logits, the parameters,
 * the history and (seed, sequence, position). `position` is the number of ids
 * that the sequence holds, which is that of the drawn one; `sequence` is 0
 * where there is but one. `history` may be NULL unless the sampler remembers;
 * the id is not added to it, but the grammar and Mirostat go on. With `ids`,
 * logits are some of the vocabulary's: GG_ERR_UNSUPPORTED where that is not
 * enough for top-n-sigma, Mirostat, or to raise the logit of an id that is not
 * among them. */
GG_API GG_MUST_CHECK enum gg_status
gg_sampler_next(struct gg_sampler *sampler, struct gg_history *history,
                const int32_t *ids, const float *logits, size_t n,
                uint64_t sequence, uint64_t position, struct gg_draw *out,
                struct gg_error *err);

/* Like gg_sampler_next() without a history: GG_ERR_ARG where the sampler
 * remembers. */
GG_API GG_MUST_CHECK enum gg_status
gg_sampler_draw(struct gg_sampler *sampler, const int32_t *ids,
                const float *logits, size_t n, uint64_t sequence,
                uint64_t position, int32_t *id, struct gg_error *err);

/* The natural logarithm of the sum of e to the power of each logit: a logit
 * less it is the logarithm of the token's probability. */
GG_API double
gg_log_sum_exp(const float *logits, size_t n);

#ifdef __cplusplus
}
#endif

#endif
