# What bin/common does for every tool.
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
echo 1 2 3 >ids
echo 1 2 3 | fake_eval >stream

echo 'where models are looked for'
mkdir -p path/a path/b data/gg home/.local/share/gg
mv model.gguf path/b/here.gguf
cp path/b/here.gguf data/gg/there.gguf
cp path/b/here.gguf home/.local/share/gg/home.gguf
GG_MODEL_PATH=:none:path/a:path/b gg-eval -m here.gguf --top 1 ids | wc -l
GG_MODEL=here.gguf GG_MODEL_PATH=path/b gg-eval --top 1 ids | wc -l
XDG_DATA_HOME=$PWD/data gg-eval -m there.gguf --top 1 ids | wc -l
env -u XDG_DATA_HOME HOME="$PWD/home" gg-eval -m home.gguf --top 1 ids | wc -l
XDG_DATA_HOME=data gg-eval -m there.gguf --top 1 ids
GG_MODEL_PATH=path/b gg-eval -m ./here.gguf --top 1 ids
# .gguf may be left out.
GG_MODEL_PATH=:none:path/a:path/b gg-eval -m here --top 1 ids | wc -l
XDG_DATA_HOME=$PWD/data gg-eval -m there --top 1 ids | wc -l
for tool in 'gg-eval ids' 'gg-inspect' 'gg-tokenize ids' 'gg-generate -n 1 ids'
do
    $tool -m path/b/here >out || echo "$tool: status $?"
done
gg-inspect path/b/here >out || echo "status $?"

echo 'an output that appears whole'
echo old >out
ln -s out link
gg-sample --greedy -o link stream
cat out
test -L link || echo the link is gone
gg-sample --greedy -o /dev/null stream
gg-sample --greedy -o - stream
(umask 027; gg-sample --greedy -o mode stream; stat -c %a mode)

echo 'or not at all'
mkfifo fifo
for signal in HUP INT TERM; do
    # A shell lets its background commands ignore INT, nohup HUP.
    default_signals gg-sample -o new fifo &
    exec 3>fifo
    head -c 100 stream >&3
    until ls new.* >/dev/null 2>&1; do sleep 0.05; done
    kill -$signal $!
    { wait $!; } 2>/dev/null
    echo "status $?"
    exec 3>&-
    ls new* 2>/dev/null
done

echo 'a file that is cut while it is mapped'
for t in 1 2 4; do
    cat path/b/here.gguf >cut.gguf && rm -f top
    gg-eval -t $t -m cut.gguf --top 1 <fifo >top &
    exec 3>fifo
    echo 1 >&3
    until test -s top; do sleep 0.05; done
    truncate -s 64 cut.gguf
    echo 2 >&3
    exec 3>&-
    wait $!
    echo "status $?"
done

echo 'descriptors that are closed'
gg-sample --greedy stream >&-
echo "status $?"
gg-sample --greedy <&-
echo "status $?"
