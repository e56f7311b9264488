_gradmill_words() (
    [ -z "$ZSH_VERSION" ] || emulate sh
    unset IFS
    set -f
    word="${1##* }" command= given= start= words= ends= names=
    set -- ${1% *}
    shift
    for each; do
        case $each in
            *=*) given="$given $each" ;;
            -*) ;;
            *) command="${command:-$each}" ;;
        esac
    done
    case $word in *=*,*) start="${word%,*}," word="${word%%=*}=${word##*,}" ;; esac
    case "$command $word" in
@CASES@
    esac
    [ -z "$names" ] || words="$words $(gradmill list --all --quiet $given 2> /dev/null)"
    for each in $words; do
        [ "$names" != plain ] || each="${each#emit:}" each="${each#shard:}"
        case $each in "$word"*) [ -z "$start" ] || each="$start${each#*=}"; printf '%s\n' "$each" ;; esac
    done
    set +f
    [ -z "$ends" ] || set -- "${word#*=}"*
    set -f
    for end in $ends; do
        for each; do
            case $each in *$end) [ ! -f "$each" ] || printf '%s\n' "${word%%=*}=$each" ;; esac
            [ "$end" != / ] || [ ! -d "$each" ] || printf '%s\n' "${word%%=*}=$each/"
        done
    done
)
