//! Work on many things at a time, for commands that read whole directories.

use std::panic::resume_unwind;
use std::thread;

/// Fewer things than this are not worth a thread.
const WORTHWHILE: usize = 32;

/// What `work` makes of each item, in their order, on as many threads as there are cores.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    if items.len() < WORTHWHILE || threads == 1 {
        return items.into_iter().map(work).collect();
    }
    let (each, work) = (items.len().div_ceil(threads), &work);
    let mut items = items.into_iter();
    thread::scope(|scope| {
        let parts: Vec<_> = std::iter::from_fn(|| {
            let part: Vec<T> = items.by_ref().take(each).collect();
            (!part.is_empty()).then(|| scope.spawn(move || part.into_iter().map(work).collect::<Vec<R>>()))
        })
        .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_stand_in_the_order_of_items() {
        for count in [0, 1, 31, 32, 33, 1000] {
            let doubled: Vec<usize> = map((0..count).collect(), |item: usize| item * 2);
            assert_eq!(doubled, (0..count).map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
