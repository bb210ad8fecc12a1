//! A tmux server of one world. It dies with the world, by the mark in its environment.

use super::world::run;
use super::{World, wait_until};

impl World {
    /// tmux, its standard output without the last line end.
    #[track_caller]
    pub fn tmux(&self, args: &[&str]) -> String {
        let mut command = self.command("tmux");
        command.args(args);
        run(command).exit(0).stdout.trim_end().to_owned()
    }

    /// Something about every pane of every session, a line each.
    #[track_caller]
    pub fn panes(&self, format: &str) -> Vec<String> {
        self.tmux(&["list-panes", "-a", "-F", format]).lines().map(str::to_owned).collect()
    }

    /// Waits until a pane has this title.
    #[track_caller]
    pub fn wait_for_title(&self, title: &str) {
        wait_until(&format!("the title {title}"), || self.panes("#{pane_title}").iter().any(|found| found == title));
    }
}
