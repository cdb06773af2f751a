//! `allOf`, `anyOf`, `oneOf` and `not`: rules about rules.
//!
//! They add checks but, as for the API server, declare no fields.

use serde_json::Value;

use super::check::Check;
use super::{Breach, BreachKind, Schema};
use crate::path::Place;

impl Check<'_> {
    pub(super) fn forms(&mut self, schema: &Schema, value: &Value, place: &Place<'_>) {
        for form in &schema.all_of {
            let breaches = self.against(form, value, place);
            self.found.extend(breaches);
        }
        if let Some(form) = &schema.not
            && self.against(form, value, place).is_empty()
        {
            self.breach(place, BreachKind::Form, "has a form that is not allowed".to_owned());
        }
        self.alternatives(&schema.any_of, false, value, place);
        self.alternatives(&schema.one_of, true, value, place);
    }

    fn alternatives(&mut self, forms: &[Schema], only_one: bool, value: &Value, place: &Place<'_>) {
        if forms.is_empty() {
            return;
        }
        let (fitting, broken): (Vec<_>, Vec<_>) =
            forms.iter().map(|form| self.against(form, value, place)).partition(Vec::is_empty);
        match fitting.len() {
            0 => self.breach(place, BreachKind::Form, format!("fits no allowed form: {}", first_of_each(&broken))),
            several @ 2.. if only_one => {
                let what = format!("fits {several} of {} forms of which only one is allowed", forms.len());
                self.breach(place, BreachKind::Form, what);
            }
            _ => {}
        }
    }

    fn against(&self, form: &Schema, value: &Value, place: &Place<'_>) -> Vec<Breach> {
        let mut inner = Check { secret: self.secret, closed: false, found: Vec::new() };
        inner.value(form, value, place);
        inner.found
    }
}

fn first_of_each(broken: &[Vec<Breach>]) -> String {
    let firsts = broken.iter().filter_map(|breaches| breaches.first());
    firsts.map(ToString::to_string).collect::<Vec<_>>().join("; or ")
}
