# Servers that are files: $1 is what to do, $2 the folder. What the folder holds beside them makes commands fail.
cd "$2" || exit 1
echo "$1" >>asked
case $1 in
create)
    hardware=$HEADROOM_HARDWARE
    echo "create $hardware" >>calls
    if [ -e "sold-out-$hardware" ]; then
        echo "no $hardware left" >&2
        exit 75
    fi
    while [ -e hold ]; do sleep 0.05; done
    # A process that stays, as a server would.
    [ ! -e lingers ] || sleep 30 &
    [ ! -e slow ] || sleep 2
    printf '{"id":"%s","name":"%s","cluster":"%s","pool":"%s","server":"%s","hardware":"%s"}\n' "$HEADROOM_SERVER_ID-1" \
        "$HEADROOM_SERVER_NAME" "$HEADROOM_CLUSTER_ID" "$HEADROOM_POOL" "$HEADROOM_SERVER_ID" "$hardware" \
        >"$HEADROOM_SERVER_ID-1.server"
    echo "$HEADROOM_USER_DATA$SIZE" >user-data
    if [ -e "breaks-$hardware" ]; then
        echo "the disk of $hardware broke" >&2
        exit 1
    fi
    [ ! -e "hangs-$hardware" ] || exec sleep 60
    ;;
list)
    [ ! -e silent ] || exec sleep 60
    [ ! -e broken ] || exit 1
    [ ! -e garbage ] || echo "<html>"
    cat ./*.server 2>/dev/null || true
    ;;
delete)
    echo "delete" >>calls
    if [ -e stuck ] || [ -e "stuck-$HEADROOM_PROVIDER_ID" ]; then
        echo "it is locked" >&2
        exit 1
    fi
    rm -f "$HEADROOM_PROVIDER_ID.server"
    ;;
esac
