//! What was worked out before, in bounded memory. A process that is asked the same again and again need not work it out
//! again; what is remembered saves work and never changes an answer.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values by key. Once they take too much memory, now and then a new one drives others out.
pub struct Memory<V> {
    /// How much memory all together may take, in bytes.
    most: usize,
    kept: Mutex<Kept<V>>,
}

struct Kept<V> {
    values: BTreeMap<String, (V, usize)>,
    bytes: usize,
    /// How many values found no room.
    turned_away: usize,
}

/// What an entry takes beside its key and value, in bytes.
const ENTRY: usize = 64;

/// Of so many values that find no room, one drives others out. Callers come round again and again; if all of them did, each
/// would find that it was driven out before its turn.
const PATIENCE: usize = 16;

/// What takes more than this part of all is not kept.
const PART: usize = 16;

impl<V: Clone> Memory<V> {
    /// Remembers nothing yet; `most` is in bytes.
    pub const fn new(most: usize) -> Self {
        Self { most, kept: Mutex::new(Kept { values: BTreeMap::new(), bytes: 0, turned_away: 0 }) }
    }

    /// What was last kept under this key.
    pub fn get(&self, key: &str) -> Option<V> {
        self.kept().values.get(key).map(|(value, _)| value.clone())
    }

    /// Keeps a value that takes so many bytes, in place of what was kept under this key.
    pub fn put(&self, key: &str, value: V, bytes: usize) {
        let bytes = bytes + key.len() + ENTRY;
        let mut kept = self.kept();
        kept.remove(key);
        if bytes > self.most / PART {
            return;
        }
        if kept.bytes + bytes > self.most {
            kept.turned_away += 1;
            if !kept.turned_away.is_multiple_of(PATIENCE) {
                return;
            }
        }
        while kept.bytes + bytes > self.most {
            let Some(next) = kept.after(key) else { break };
            kept.remove(&next);
        }
        kept.bytes += bytes;
        kept.values.insert(key.to_owned(), (value, bytes));
    }

    fn kept(&self) -> MutexGuard<'_, Kept<V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Kept<V> {
    fn remove(&mut self, key: &str) {
        if let Some((_, bytes)) = self.values.remove(key) {
            self.bytes -= bytes;
        }
    }

    /// The key that goes: the next one, which is as good as any.
    fn after(&self, key: &str) -> Option<String> {
        let next = self.values.range::<str, _>((Bound::Excluded(key), Bound::Unbounded)).next();
        next.or_else(|| self.values.first_key_value()).map(|(key, _)| key.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let memory = Memory::new(16 * 1024);
        assert_eq!(memory.get("a"), None);
        memory.put("a", 1, 10);
        memory.put("b", 2, 10);
        memory.put("a", 3, 10);
        assert_eq!((memory.get("a"), memory.get("b")), (Some(3), Some(2)));
        assert_eq!(memory.kept().bytes, 2 * (10 + 1 + ENTRY), "what was replaced counts no more");
    }

    #[test]
    fn it_stays_within_its_bounds_and_serves_some_of_too_many() {
        let memory = Memory::new(100 * (100 + 3 + ENTRY));
        let mut hits = 0;
        for round in 0..20 {
            // Each round in another order, as callers are.
            for step in 0..150 {
                let key = format!("{:03}", (step * 67 + round * 31) % 150);
                match memory.get(&key) {
                    Some(()) => hits += 1,
                    None => memory.put(&key, (), 100),
                }
                let kept = memory.kept();
                assert!(kept.bytes <= memory.most && kept.values.len() <= 100, "{} bytes", kept.bytes);
                assert_eq!(kept.bytes, kept.values.values().map(|(_, bytes)| bytes).sum::<usize>());
            }
        }
        assert!(hits > 20 * 150 / 2, "{hits} of 3000");
        // Those that never come again make room in time.
        for _ in 0..PATIENCE * 200 {
            memory.put("newcomer", (), 100);
        }
        assert_eq!(memory.get("newcomer"), Some(()));
        memory.put("too large", (), memory.most / 2);
        assert_eq!(memory.get("too large"), None);
    }
}
