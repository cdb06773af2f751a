//! What the allocator does with the memory that a call gives back.

use std::hint::black_box;

/// Larger than what calls take at a time, and small beside what a server may hold: in bytes.
const ENOUGH: usize = 512 * 1024;

/// Has the allocator keep what a call gives back for the next one, from now on.
///
/// glibc hands the free end of a heap back to the system when it is longer than a threshold, and the next call faults it in
/// again, page by page. At first that is 128 KiB, which one request of usual size with its answer comes to. The first block
/// that was too large for a heap and is given back raises it to twice that block's size. Nothing else is needed to raise
/// it, and other allocators do not care.
pub fn keep_freed() {
    drop(black_box(Vec::<u8>::with_capacity(ENOUGH)));
}
