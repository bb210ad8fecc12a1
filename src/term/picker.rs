//! One choice out of a list, with a filter, on a terminal.

use inquire::error::InquireError;
use inquire::ui::{RenderConfig, Styled};
use inquire::{Select, set_global_render_config};

use crate::error::{Error, Result};

/// Asks for one of `choices`; `None` where the person left without choosing.
pub fn pick(question: &str, choices: &[String]) -> Result<Option<usize>> {
    let config =
        RenderConfig::empty().with_prompt_prefix(Styled::new("?")).with_highlighted_option_prefix(Styled::new(">"));
    set_global_render_config(config);
    let help = "type to filter, up and down to move, Enter to choose, Esc to leave";
    match Select::new(question, choices.to_vec()).with_help_message(help).with_page_size(12).raw_prompt_skippable() {
        Ok(chosen) => Ok(chosen.map(|choice| choice.index)),
        Err(InquireError::OperationInterrupted) => Ok(None),
        Err(error) => Err(Error::new(format!("cannot ask: {error}")).hint("name a change: --change ID")),
    }
}
