//! Where a panic happened. Never what it said: a panic's text may quote the value it stumbled over.

use std::cell::{Cell, RefCell};
use std::panic::{PanicHookInfo, set_hook};

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// From now on panics are logged, by their place alone; those of a call by whoever runs the call.
pub fn hook() {
    set_hook(Box::new(remember));
}

fn remember(panic: &PanicHookInfo<'_>) {
    let at = panic.location().map(ToString::to_string).unwrap_or_default();
    if WATCHED.get() {
        PLACE.set(at);
    } else {
        tracing::error!(at, "a bug in function-asya: a task panicked");
    }
}

/// Runs `call`, whose panics the caller will log.
pub(super) fn watched<T>(call: impl FnOnce() -> T) -> T {
    PLACE.set(String::new());
    WATCHED.set(true);
    let outcome = call();
    WATCHED.set(false);
    outcome
}

/// Where the last watched call of this thread panicked, as `file:line:column`.
pub(super) fn place() -> String {
    PLACE.take()
}
