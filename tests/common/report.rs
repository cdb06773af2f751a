//! Gathers everything that went wrong, with a diff for each.

use similar::TextDiff;

/// What went wrong so far; tells it all when the test ends.
#[derive(Default)]
pub struct Report {
    failures: Vec<String>,
    looked_at: usize,
}

impl Report {
    /// One more thing was looked at.
    pub fn look(&mut self) {
        self.looked_at += 1;
    }

    /// Something went wrong.
    pub fn fail(&mut self, name: &str, what: impl std::fmt::Display) {
        self.failures.push(format!("{name}: {what}"));
    }

    /// Fails with a diff unless the two texts are equal.
    pub fn same(&mut self, name: &str, what: &str, expected: &str, actual: &str) {
        if expected != actual {
            let diff = TextDiff::from_lines(expected, actual);
            let diff = diff.unified_diff().context_radius(3).header("expected", "actual").to_string();
            self.fail(name, format!("{what}\n{diff}"));
        }
    }

    /// Fails with both unless they are equal.
    pub fn equal<T: PartialEq + std::fmt::Debug>(&mut self, name: &str, what: &str, expected: &T, actual: &T) {
        if expected != actual {
            self.same(name, what, &format!("{expected:#?}\n"), &format!("{actual:#?}\n"));
        }
    }

    /// All that went wrong, if anything did.
    pub fn told(self) -> Option<String> {
        (!self.failures.is_empty()).then(|| self.failures.join("\n\n"))
    }

    /// Ends the test.
    ///
    /// # Panics
    /// If anything went wrong, or nothing was looked at though nobody chose a `CASE`.
    pub fn end(self) {
        let Self { failures, looked_at } = self;
        assert!(failures.is_empty(), "{} of {looked_at} differ\n\n{}", failures.len(), failures.join("\n\n"));
        assert!(looked_at > 0 || std::env::var_os("CASE").is_some(), "there is nothing to look at");
    }
}
