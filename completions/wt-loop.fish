complete --keep-order --exclusive --command wt-loop --arguments "(WT_LOOP_COMPLETE=fish wt-loop -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
