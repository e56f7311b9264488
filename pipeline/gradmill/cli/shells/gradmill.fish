# gradmill completion fish > ~/.config/fish/completions/gradmill.fish
set -g _gradmill_words '@WORDS@_gradmill_words "$1"'
complete -c gradmill -f -a '(sh -c "$_gradmill_words" sh (commandline -cp))'
