# gradmill completion bash > ~/.local/share/bash-completion/completions/gradmill
@WORDS@
_gradmill() {
    local line=${COMP_LINE:0:COMP_POINT} word IFS=$'\n'
    word=${line##* }
    COMPREPLY=($(_gradmill_words "$line"))
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[=:]}"}"}")  # bash completes what follows the last = or :
    [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY != *[=:/] ]] && COMPREPLY="$COMPREPLY "
}
complete -o nospace -F _gradmill gradmill
