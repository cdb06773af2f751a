//! Mounts of volumes that the pod does not have: Kubernetes refuses the whole Deployment.

use serde_json::{Map, Value};

use super::{Finding, Level, Look, Lot, wrong};
use crate::parallel;
use crate::path::Path;
use crate::problem::nearest;
use crate::resolve::field::Field;
use crate::resources::deployment::VOLUMES_OF_OURS;

/// The lists of containers beside the runtime.
const CONTAINERS: &[&str] = &["initContainers", "sidecars"];

/// Every mount of a volume that is not there. Actors with missing flavors are spared: those may bring it.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let looks = lot.looks.iter().enumerate().filter(|(_, look)| !look.missing);
    parallel::map(looks.collect(), |(index, look)| of_actor(lot, index, look)).concat()
}

fn of_actor(lot: &Lot<'_>, index: usize, look: &Look) -> Vec<Finding> {
    let fields = lot.merged(look);
    let value = parts(&fields);
    let volumes = volumes(&value);
    let lost = mounts(&value).into_iter().filter(|(_, name)| !volumes.contains(name));
    lost.map(|(path, name)| {
        let problem = wrong(&fields, &value, &path, format!("there is no volume `{name}`"));
        let hint = match nearest(name, volumes.iter().copied()) {
            Some(near) => format!("`{near}`, or add `{name}` to `spec.volumes`"),
            None => format!("add `{name}` to `spec.volumes`"),
        };
        Finding::new(Level::Problem, problem.hint(hint)).of_actor(index)
    })
    .collect()
}

/// Of a merged spec, what has to do with mounts.
fn parts(fields: &Field<'_>) -> Value {
    let keys = ["volumes", "volumeMounts", "stateProxy"].iter().chain(CONTAINERS);
    keys.filter_map(|key| Some(((*key).to_owned(), fields.get(key)?.value()))).collect::<Map<_, _>>().into()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The volumes of the pod: the user's, and ours.
fn volumes(spec: &Value) -> Vec<&str> {
    let has_state = !list(spec, "stateProxy").is_empty();
    let ours = VOLUMES_OF_OURS.iter().copied().filter(|name| *name != "state-sockets" || has_state);
    let theirs = list(spec, "volumes").iter().filter_map(|volume| volume.get("name")?.as_str());
    theirs.chain(ours).collect()
}

/// Each mount with the name of its volume.
fn mounts(spec: &Value) -> Vec<(Path, &str)> {
    let mut found = of_container(spec, &Path::root());
    for key in CONTAINERS {
        for (index, container) in list(spec, key).iter().enumerate() {
            found.extend(of_container(container, &Path::keys(key).index(index)));
        }
    }
    found
}

fn of_container<'v>(container: &'v Value, path: &Path) -> Vec<(Path, &'v str)> {
    let mounts = list(container, "volumeMounts").iter().enumerate();
    let named = mounts.filter_map(|(index, mount)| {
        let name = mount.get("name")?.as_str()?;
        Some((path.key("volumeMounts").index(index).key("name"), name))
    });
    named.collect()
}
