# Folders whose weights are quantised already: MXFP4 stays, FP8 becomes BF16; the
# values are those that the formats' definitions give.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
for f in qwen3 llama mixtral qwen3moe; do # rows in their order, turned, experts
    make_folder $f-bf16 m.gguf fp8 2 fp8 && make_folder $f-bf16 m.gguf plain 1 \
        fp8-plain || exit 99
    grep -ac '"F8_E4M3"' fp8/*-00001-*
    gg-convert --set general.name=x fp8 a.gguf &&
        gg-convert --set general.name=x plain b.gguf && cmp a.gguf b.gguf
    rm -rf plain
    test $f = qwen3moe || rm -rf fp8
done
gg-inspect --tensors a.gguf | sed -n '/blk.0.*\(_q\|down_exps\).weight/p'
for i in 1 2; do # a scale is missing; a shape is not that of the blocks
    test $i = 1 && sed -i 's/q_proj.weight_scale_inv/q_proj.weight_scale_odd/g' \
        fp8/*
    test $i = 2 && sed -i 's/weight_scale_odd/weight_scale_inv/g
        s/"weight_block_size":.16/"weight_block_size":[ 8/' fp8/*
    gg-convert fp8 out; echo $?
done

make_folder gpt-oss-bf16 m.gguf mx 3 mxfp4 && make_folder gpt-oss-bf16 m.gguf \
    plain 1 mxfp4-plain || exit 99
gg-convert --set general.name=x mx a.gguf
gg-inspect --tensors a.gguf | sed -n '/blk.0.*exps.weight/p'
gg-inspect --json a.gguf | jq '.metadata."general.file_type"'
gg-convert --set general.name=x --type F32 mx a.gguf
gg-convert --set general.name=x --type F32 plain b.gguf && cmp a.gguf b.gguf
sed -i 's/up_proj_scales/up_proj_odd___/g' mx/*
gg-convert mx out; echo $?
rm -rf m.gguf a.gguf b.gguf fp8 mx plain && ls
