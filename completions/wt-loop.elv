
set edit:completion:arg-completer[wt-loop] = { |@words|
    var index = (count $words)
    set index = (- $index 1)

    put (env _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string $index) WT_LOOP_COMPLETE="elvish" wt-loop -- $@words) | to-lines
}

