# Servers that are processes: $1 is what to do, $2 the folder in which they are. Each runs a client of Nomad (`client`).
cd "$2" || exit 1

# A process and all that come from it, whichever of its threads started them.
tree() {
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        tree "$child"
    done
    echo "$1"
}

# Notes a call with whoever makes it, and kills that one when it is time.
called() {
    echo "$PPID $1 $HEADROOM_POOL $HEADROOM_HARDWARE $HEADROOM_SERVER_ID" >>calls
    if [ -e "cut-$PPID" ] && [ "$(grep -c "^$PPID " calls)" -ge "$(cat "cut-$PPID")" ]; then
        kill -9 "$PPID"
    fi
}

case $1 in
create)
    if [ -e "sold-out-$HEADROOM_HARDWARE" ]; then
        echo "no $HEADROOM_HARDWARE left" >&2
        exit 75
    fi
    id=$HEADROOM_SERVER_ID
    printf '%s' "$HEADROOM_USER_DATA" | sed "s/@MEMORY@/$MEMORY/" >"$id.client"
    # It boots for as long as somebody holds it.
    sh -c 'while [ -e hold ]; do sleep 0.05; done; . ./client' client "$id.client" </dev/null >"$id.log" 2>&1 &
    echo $! >"$id.pid"
    printf '{"id":"%s","name":"%s","cluster":"%s","pool":"%s","server":"%s","hardware":"%s"}\n' "$id" \
        "$HEADROOM_SERVER_NAME" "$HEADROOM_CLUSTER_ID" "$HEADROOM_POOL" "$id" "$HEADROOM_HARDWARE" >"$id.new"
    mv "$id.new" "$id.server"
    set -- ./*.server
    echo $# >>sizes
    called create
    ;;
list)
    cat ./*.server 2>/dev/null || true
    ;;
delete)
    id=$HEADROOM_PROVIDER_ID
    rm -f "$id.server"
    if read -r pid <"$id.pid"; then
        rm "$id.pid"
        if [ -d "$id.data" ]; then
            # A real client ends as a machine does that is switched off. It has mounted folders for its tasks.
            tree "$pid" | xargs kill -9
            grep -o " $PWD/$id.data/[^ ]*" /proc/mounts | xargs -r umount -l
        else
            # That of a pretended Nomad tells it.
            kill "$pid"
        fi
    fi
    called delete
    ;;
esac
