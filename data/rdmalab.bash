# SPDX-License-Identifier: MIT
# bash: what may follow, asked of the program itself.
_rdmalab()
{
    local line files='' name suffix cur=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]/#\~/$HOME}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files*) files=${line#:} ;;
        *) COMPREPLY+=("$line") ;;
        esac
    done < <("$program" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ $files ]] || return 0
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        if [[ -d $name || $files == files ]]; then
            COMPREPLY+=("$name")
            continue
        fi
        for suffix in ${files#files}; do
            [[ $name == *."$suffix" ]] && COMPREPLY+=("$name")
        done
    done < <(compgen -f -- "$cur")
    return 0
}
complete -F _rdmalab rdmalab
