/* theirs_llama.c - words of llama.cpp's programs */
#include <config.h>

#include "common/foreign/theirs.h"

#define SWITCH "on|off|auto|0|1|true|false|enabled|disabled"
#define SERVER "no tool of ours opens a port: --jsonl takes requests as lines"
#define LOG    "messages go to standard error: -q and -v choose"
#define CPUS   "taskset(1) sets it"
#define SPLIT  "--device names the GPUs, --gpu-layers layers of each"
#define DRAFT  "the draft's own length and place are chosen as it goes"
#define IMAGES "pictures and sounds are not read"

/* clang-format off */
const struct foreign_word foreign_llama[] = {
    /* values that mean something else */
    { "-c|--ctx-size|--context", 1, .only = "0",
      .note = "the model's context is the default" },
    { "-n|--n-predict|--predict|--count|--max-tokens", 1, .only = "-1",
      .note = "there is no limit by default" },
    { "-n|--n-predict|--predict|--count|--max-tokens", 1, .only = "-2",
      .ours = "--ignore-eog" },
    { "-s|--seed", 1, .only = "-1", .note = "a seed is drawn by default" },
    { "-t|--threads", 1, .only = "-*|0",
      .note = "the threads are chosen by default" },
    { "-ngl|--gpu-layers|--n-gpu-layers", 1, .only = "all|auto|-*",
      .note = "as many layers as fit are offloaded by default" },
    { "-dev|--device", 1, .only = "none", .ours = "--device cpu" },
    { "-dev|--device", 1, .only = "CUDA[0-9]*", .ours = "--device %d" },
    { "--device", 1, .only = "auto|cpu|cuda|cuda:*", .ours = "=" },
    { "-dev", 1, .only = "auto|cpu|cuda|cuda:*", .ours = "--device %" },
    { "-dev|--device", 1, .only = "Vulkan*|Metal*|MTL*|SYCL*|ROCm*|OpenCL*",
      .note = "devices are cpu and cuda:N" },
    { "--numa", 1, .only = "numactl",
      .note = "numactl(8) is obeyed without it" },
    { "--top-k", 1, .only = "-*", .ours = "--top-k 0" },
    { "--top-n-sigma|--top-nsigma", 1, .only = "-*",
      .ours = "--top-n-sigma 0" },
    { "--draft|--draft-max|--draft-n", 1,
      .only = "[0-9]|[0-9][0-9]|[0-9][0-9][0-9]", .note = DRAFT },
    { "--logit-bias", 1, .only = "[0-9]*=*", .ours = "=" },
    { "-l|--logit-bias", 1, .only = "[0-9]*[-+]*", .ours = "--logit-bias %b" },
    { "--lora", 1, .only = "*,*", .ours = "--lora %l" },
    { "--control-vector", 1, .only = "*,*", .ours = "--control-vector %l" },
    { "--control-vector-layer-range", 2,
      .only = "[0-9]|[0-9][0-9]|[0-9][0-9][0-9]",
      .ours = "--control-vector-layer-range %r" },
    { "--chat-template", 1, .only = "*{[{%]*", .ours = "--template %f" },

    /* what ours call so, too */
    { "-m|--model", 1, .ours = "-m %" },
    { "-p|--prompt", 1, .ours = "|p", .tool = "gg-eval" },
    { "-p|--prompt", 1, .ours = "|s", .tool = "gg-tokenize" },
    { "-p|--prompt", 1, .ours = "-p %" },
    { "-f|--file|--in-file", 1, .ours = "|f", .tool = "gg-eval" },
    { "-f|--file|--in-file", 1, .ours = "-f %" },
    { "-o|--output|--output-file", 1, .ours = "--imatrix %",
      .tool = "gg-eval" },
    { "-o|--output|--output-file", 1, .ours = "-o %" },
    { "-n|--n-predict|--predict", 1, .ours = "-n %" },
    { "-c|--ctx-size|--n-ctx", 1, .ours = "-c %" },
    { "-t|--threads", 1, .ours = "-t %" },
    { "-tb|--threads-batch", 1, .ours = "-t %", .unless = "-t|--threads" },
    { "-s|--seed", 1, .ours = "-s %" },
    { "-i|--interactive", 0, .ours = "-i" },
    { "-v|--verbose|--log-verbose", 0, .ours = "-v" },

    /* the model */
    { "-hf|-hfr|--hf-repo", 1, .ours = "-m %h" },
    { "-hff|--hf-file", 1, .note = "it goes with -hf", .unless = "" },
    { "-hft|--hf-token", 1, .note = "gg-fetch reads $HF_TOKEN" },
    { "-hfd|-hfrd|--hf-repo-draft|--spec-draft-hf", 1, .ours = "--draft %h" },
    { "-mu|--model-url", 1, .ours = "-m %g" },
    { "-dr|--docker-repo", 1, .note = "gg-fetch reads no registry of Docker" },
    { "--offline", 0, .note = "only gg-fetch uses the network" },
    { "-a|--alias", 1, .note = "a model's name is its file" },
    { "--override-kv", 1,
      .note = "gg-convert --set KEY=VALUE changes the file" },
    { "--check-tensors", 0, .note = "gg-inspect --check does it" },
    { "--lora-scaled", 1, .only = "*:*", .ours = "--lora %s" },
    { "--lora-scaled", 2, .ours = "--lora %2" },
    { "--control-vector-scaled", 1, .only = "*:*",
      .ours = "--control-vector %s" },
    { "--control-vector-scaled", 2, .ours = "--control-vector %2" },
    { "--lora-base", 1,
      .note = "an adapter is added to the model that -m names" },
    { "--mmproj|-mm", 1, .note = IMAGES },
    { "--mmproj-url|-mmu", 1, .note = IMAGES },
    { "--no-mmproj|--mmproj-auto|--no-mmproj-auto|--no-mmproj-offload|"
      "--mmproj-offload", 0, .note = IMAGES },
    { "--image|--audio|--video", 1, .note = IMAGES },
    { "--image-min-tokens|--image-max-tokens", 1, .note = IMAGES },
    { "-mv|--model-vocoder|--tts-speaker-file", 1, .note = IMAGES },
    { "-a|--vision-gemma-4b-default|--gpt-oss-20b-default|"
      "--gpt-oss-120b-default", 0, .note = "-m names the model" },

    /* memory and devices */
    { "-ngl|--n-gpu-layers|--gpu-layers", 1, .ours = "--gpu-layers %" },
    { "-dev|--device", 1, .ours = "--device %" },
    { "--list-devices", 0,
      .note = "gg-generate -v says which device it takes" },
    { "-ncmoe|--n-cpu-moe", 1, .ours = "--n-cpu-moe %" },
    { "-cmoe|--cpu-moe", 0, .ours = "--cpu-moe" },
    { "-ot|--override-tensor", 1, .only = "*exps*=CPU", .ours = "--cpu-moe" },
    { "-ot|--override-tensor", 1,
      .note = "--gpu-layers, --cpu-moe and --n-cpu-moe place weights" },
    { "-ts|--tensor-split", 1, .note = SPLIT },
    { "-sm|--split-mode", 1, .note = SPLIT },
    { "-mg|--main-gpu", 1, .ours = "--device cuda:%" },
    { "-fit|--fit", 1, .only = SWITCH,
      .note = "layers are offloaded as far as they fit" },
    { "-fitt|--fit-target|-fitc|--fit-ctx", 1,
      .note = "layers are offloaded as far as they fit" },
    { "-b", 1, .ours = "--batch-size %", .unless = "-ub|--ubatch-size" },
    { "-ub|--ubatch-size", 1, .ours = "--batch-size %" },
    { "-np|--parallel|-ns|--sequences", 1, .ours = "--batch %" },
    { "-cb|--cont-batching|-nocb|--no-cont-batching", 0,
      .note = "records are batched as they come" },
    { "-fa|--flash-attn", 1, .only = SWITCH,
      .note = "attention chooses its kernel by itself" },
    { "-fa|--flash-attn", 0, .note = "attention chooses its kernel by itself" },
    { "-ctk|--cache-type-k", 1, .ours = "--cache-type-k %" },
    { "-ctv|--cache-type-v", 1, .ours = "--cache-type-v %" },
    { "-ctk|--cache-type-k", 1, .ours = "--cache-type %" },
    { "-ctv|--cache-type-v", 1, .ours = "--cache-type %",
      .unless = "-ctk|--cache-type-k" },
    { "-ctkd|--cache-type-k-draft|--spec-draft-type-k|-ctvd|"
      "--cache-type-v-draft|--spec-draft-type-v", 1, .note = DRAFT },
    { "-nkvo|--no-kv-offload|-kvo|--kv-offload|-kvu|--kv-unified|"
      "-no-kvu|--no-kv-unified", 0,
      .note = "the KV cache is where its layer is" },
    { "-dt|--defrag-thold|-gan|--grp-attn-n|-gaw|--grp-attn-w", 1,
      .note = "the KV cache needs no such care" },
    { "--swa-full", 0, .note = "a window's cache has what the window needs" },
    { "-ctxcp|--ctx-checkpoints|--swa-checkpoints|-cram|--cache-ram|"
      "--cache-reuse", 1, .note = "--state and --load keep a prefix" },
    { "-lm|--load-mode", 1, .only = "none|dio", .ours = "--no-mmap" },
    { "-lm|--load-mode", 1, .only = "mlock|mmap+mlock", .ours = "--mlock" },
    { "-lm|--load-mode", 1, .note = "weights are mapped by default" },
    { "-dio|--direct-io|-ndio|--no-direct-io", 0,
      .note = "weights are mapped by default" },
    { "--mmap", 0, .note = "weights are mapped by default" },
    { "--repack|-nr|--no-repack|--no-host|--op-offload|--no-op-offload", 0,
      .note = "it is chosen by itself" },
    { "--rpc", 1, .note = "--mpi layers runs a model on several machines" },
    { "-C|--cpu-mask|-Cr|--cpu-range|-Cb|--cpu-mask-batch|-Crb|"
      "--cpu-range-batch|--cpu-strict|--cpu-strict-batch", 1, .note = CPUS },
    { "--prio|--prio-batch|--poll|--poll-batch", 1,
      .note = "nice(1) and chrt(1) set it" },
    { "--warmup|--no-warmup", 0, .note = "there is no warm-up" },
    { "--perf|--no-perf|--show-timings|--no-show-timings", 0,
      .note = "-v tells the speed" },

    /* positions */
    { "--rope-scale", 1, .ours = "--rope-factor %" },
    { "--rope-freq-base", 1, .ours = "--rope-base %" },
    { "--rope-freq-scale", 1, .ours = "--rope-factor %i" },
    { "--yarn-orig-ctx", 1, .ours = "--rope-context %" },
    { "--yarn-ext-factor|--yarn-attn-factor|--yarn-beta-slow|"
      "--yarn-beta-fast", 1, .note = "YaRN has its authors' constants" },
    { "--context-shift", 0, .ours = "--shift" },
    { "--no-context-shift", 0,
      .note = "a full context ends the answer by default" },
    { "--keep", 1, .note = "--shift keeps the first token" },

    /* sampling */
    { "--typical", 1, .ours = "--typical-p %" },
    { "--top-nsigma", 1, .ours = "--top-n-sigma %" },
    { "--ignore-eos", 0, .ours = "--ignore-eog" },
    { "--sampler-seq|--sampling-seq", 1, .note = "--samplers names them" },
    { "-bs|--backend-sampling", 0, .note = "tokens are drawn by the CPU" },
    { "--tfs|--penalize-nl", 1,
      .note = "llama.cpp has no such sampler any more" },
    { "--grammar-file", 1, .ours = "--grammar %" },
    { "-j", 1, .ours = "--json-schema %" },
    { "-jf|--json-schema-file", 1, .ours = "--json-schema %" },
    { "-r|--reverse-prompt", 1, .ours = "--stop %" },
    { "-bf|--binary-file", 1, .ours = "-f %" },

    /* text and conversations */
    { "-e|--escape|--no-escape", 0,
      .note = "a text is taken as it is: $'a\\nb' has a newline" },
    { "-sp|--special", 0, .ours = "--special parse", .tool = "gg-tokenize" },
    { "-sp|--special", 0, .note = "control tokens are not shown" },
    { "--special", 1, .only = "text|parse|error", .ours = "=" },
    { "--parse-special", 0, .ours = "--special parse" },
    { "--no-parse-special", 0, .ours = "--special text" },
    { "--show-count", 0, .ours = "--count" },
    { "--ids|--log-disable", 0, .note = "ids alone are written by default",
      .tool = "gg-tokenize" },
    { "--stdin", 0, .note = "standard input is read by default",
      .tool = "gg-tokenize" },
    { "-sys|--system-prompt", 1, .ours = "--system %" },
    { "-sysf|--system-prompt-file", 1, .ours = "--system %f" },
    { "-cnv|--conversation|--interactive-first|-if|-ins|--instruct|"
      "-cml|--chatml", 0, .ours = "-i", .unless = "-st|--single-turn" },
    { "-no-cnv|--no-conversation", 0,
      .note = "a text is continued by default" },
    { "-st|--single-turn", 0, .ours = "--chat" },
    { "--chat-template|--chat-template-file", 1, .ours = "--template %" },
    { "--chat-template-kwargs", 1, .ours = "--template-arg %j" },
    { "--jinja|--no-jinja|--skip-chat-parsing|--no-skip-chat-parsing", 0,
      .note = "the model's template is always run" },
    { "-rea", 1, .ours = "--reasoning %" },
    { "--reasoning-effort", 1, .ours = "--template-arg %e" },
    { "--reasoning-format", 1, .only = "none",
      .ours = "--show-reasoning show" },
    { "--reasoning-format", 1,
      .note = "--show-reasoning says what becomes of thoughts" },
    { "--reasoning-preserve|--no-reasoning-preserve", 0,
      .note = "the template decides" },
    { "--in-prefix|--in-suffix", 1,
      .note = "--template names a template of the chat" },
    { "--in-prefix-bos", 0, .note = "--template names a template of the chat" },
    { "--suffix", 1, .ours = "--suffix %" },
    { "--spm-infill", 0, .note = "--suffix knows the model's form" },
    { "-mli|--multiline-input|--simple-io", 0,
      .note = "-i edits lines on a terminal only" },
    { "-co|--color", 1, .only = SWITCH, .note = "a prompt has no colour" },
    { "-co|--color", 0, .note = "a prompt has no colour" },
    { "--display-prompt", 0, .ours = "--echo" },
    { "--no-display-prompt", 0, .note = "the prompt is not shown by default" },
    { "--verbose-prompt", 0, .note = "gg-tokenize --pieces shows it" },
    { "--prompt-cache", 1, .ours = "--state %" },
    { "--prompt-cache-all|--prompt-cache-ro", 0,
      .note = "--state keeps all, --load only reads" },
    { "--print-token-count|-ptc", 1, .note = "-v tells the counts" },

    /* drafts */
    { "-md|--model-draft|--spec-draft-model", 1, .ours = "--draft %" },
    { "--draft-min|--draft-n-min|--draft-p-min|--draft-p-split|"
      "--spec-draft-n-max|--spec-draft-n-min|--spec-draft-p-min|"
      "--spec-draft-p-split|--spec-type", 1, .note = DRAFT },
    { "-ngld|--gpu-layers-draft|--n-gpu-layers-draft|--spec-draft-ngl|"
      "-devd|--device-draft|--spec-draft-device|-cd|--ctx-size-draft|"
      "-td|--threads-draft|--spec-draft-threads|-tbd|"
      "--threads-batch-draft", 1, .note = DRAFT },
    { "--spec-default", 0, .note = DRAFT },
    { "-lcs|--lookup-cache-static|-lcd|--lookup-cache-dynamic", 1,
      .note = DRAFT },

    /* messages */
    { "--log-disable", 0, .ours = "-q" },
    { "-lv|--verbosity|--log-verbosity|--log-file|--log-colors", 1,
      .note = LOG },
    { "--log-prefix|--no-log-prefix|--log-timestamps|"
      "--no-log-timestamps|--log-enable", 0, .note = LOG },

    /* the server */
    { "--host|--port|--path|--api-prefix|--api-key|--api-key-file|"
      "--ssl-key-file|--ssl-cert-file|-to|--timeout|--threads-http|"
      "--slot-save-path|--server-base|--models-max|--models-dir|"
      "--models-preset|--sleep-idle-seconds|--webui-config|--tools-dir|"
      "--media-path", 1, .note = SERVER },
    { "--metrics|--props|--slots|--no-slots|--no-webui|--webui|--no-ui|"
      "--ui|--reuse-port|--no-cache-prompt|--cache-prompt|"
      "--prefill-assistant|--no-prefill-assistant|"
      "--lora-init-without-apply|--cache-idle-slots|"
      "--no-cache-idle-slots", 0, .note = SERVER },
    { "-sps|--slot-prompt-similarity", 1, .note = SERVER },
    { "--embedding|--embeddings|--rerank|--reranking", 0,
      .note = "gg-eval --embed KIND and --rank do it" },

    /* embeddings, perplexity, importance */
    { "--pooling", 1, .only = "mean|last|cls", .ours = "--embed %",
      .tool = "gg-eval" },
    { "--pooling", 1, .only = "rank", .ours = "--rank", .tool = "gg-eval" },
    { "--pooling", 1, .only = "none", .ours = "--embed tokens",
      .tool = "gg-eval" },
    { "--embd-normalize", 1, .only = "-1", .ours = "--no-normalize" },
    { "--embd-normalize", 1, .note = "vectors have the length 1" },
    { "--embd-output-format|--embd-separator|--cls-separator", 1,
      .note = "vectors are records of a logit stream: gg-logits --to" },
    { "--attention", 1, .note = "the model's kind decides" },
    { "--ppl-stride|--ppl-output-type|--chunks|--chunk|--from-chunk", 1,
      .note = "windows are those of -c" },
    { "--kl-divergence-base|--kld-base|--save-all-logits", 1,
      .note = "gg-logits --diff compares logit streams" },
    { "--kl-divergence", 0, .note = "gg-logits --diff compares logit streams" },
    { "--hellaswag|--winogrande|--multiple-choice", 0,
      .note = "gg-eval --score scores the endings" },
    { "--hellaswag-tasks|--winogrande-tasks|--multiple-choice-tasks", 1,
      .note = "gg-eval --score scores the endings" },
    { "--output-frequency|-ofreq|--save-frequency|--output-format", 1,
      .note = "the file is written at the end" },
    { "--process-output|--no-ppl|--show-statistics", 0,
      .note = "the importance of all matrices is written" },

    /* quantisation */
    { "--pure", 0, .ours = "--pure" },
    { "--imatrix", 1, .ours = "--imatrix %" },
    { "--output-tensor-type", 1, .ours = "--tensor output.weight=%" },
    { "--token-embedding-type", 1, .ours = "--tensor token_embd.weight=%" },
    { "--tensor-type", 1, .ours = "--tensor %t" },
    { "--dry-run", 0, .ours = "--dry-run" },
    { "--allow-requantize|--leave-output-tensor|--keep-split", 0,
      .note = "--tensor PATTERN=TYPE chooses a tensor's type" },
    { "--include-weights|--exclude-weights|--prune-layers|"
      "--tensor-type-file", 1,
      .note = "--tensor PATTERN=TYPE chooses a tensor's type" },

    /* conversion */
    { "--outfile", 1, .ours = "|o", .tool = "gg-convert" },
    { "--outtype", 1, .only = "auto", .note = "the types are kept by default" },
    { "--outtype", 1, .ours = "--type %u" },
    { "--bigendian", 0, .ours = "--byte-order big" },
    { "--split-max-size", 1, .ours = "--split %" },
    { "--split|--merge|--no-lazy|--verbose", 0,
      .note = "shards are read by themselves", .tool = "gg-convert" },
    { "--split-max-tensors|--model-name|--metadata", 1,
      .note = "--split SIZE, --set KEY=VALUE", .tool = "gg-convert" },
    { "--target-model-dir", 1, .note = "gg-convert reads one folder",
      .tool = "gg-convert" },
    { "--vocab-only|--use-temp-file|--remote|--no-tensor-first-split|"
      "--mmproj", 0, .note = "gg-fetch hf:OWNER/NAME brings a folder",
      .tool = "gg-convert" },

    /* what ours have, with their names of old */
    { "--n-gen|-gp|-pg|-d|--n-depth|-r|--repetitions|-o|--output", 1,
      .note = "gg-bench(1) has its own", .tool = "gg-bench" },
    { 0 },
};
/* clang-format on */
