//! Plays the reconcile loop to its end, inventing what the providers, KEDA and Kubernetes would report.

use serde_json::{Value, json};

use super::crossplane;
use super::scene::{RESOURCE_NAME, Scene};
use super::stop::Stop;
use crate::composed::Composition;
use crate::node::Node;
use crate::resources::{self, DEPLOYMENT, SCALED_OBJECT};
use crate::transport::sqs;
use crate::tree;
use crate::wire::Encoded;

/// How many rounds are played at most; three are needed when nothing exists yet.
const ROUNDS: usize = 10;

/// The AWS account of a simulated queue, where the settings name none.
const SOME_ACCOUNT: &str = "000000000000";

/// How the simulation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum End {
    /// Pods run.
    Ready,
    /// KEDA has scaled an idle actor to zero.
    Napping,
}

/// Plays rounds until nothing changes any more, from what `scene` observes; `scene` then holds what is observed last.
///
/// # Errors
/// [`Stop`] if an observed object cannot be read.
pub fn play(scene: &mut Scene, end: End) -> Result<Composition, Stop> {
    let mut composition = scene.answer()?;
    let account = scene.account()?.unwrap_or_else(|| SOME_ACCOUNT.to_owned());
    let world = World { end, account };
    for _ in 0..ROUNDS {
        if !composition.problems.is_empty() {
            break;
        }
        let (composite, observed) = (scene.composite.clone(), scene.observed.clone());
        world.advance(scene, &composition);
        if (composite, observed) == (scene.composite.clone(), scene.observed.clone()) {
            break;
        }
        composition = scene.answer()?;
    }
    Ok(composition)
}

/// What the simulated providers are like.
struct World {
    end: End,
    account: String,
}

impl World {
    /// One round: what was answered becomes what is observed.
    fn advance(&self, scene: &mut Scene, composition: &Composition) {
        scene.observed.retain(|name, _| composition.resources.contains_key(name.as_str()));
        for (name, composed) in &composition.resources {
            let before = scene.observed.remove(*name).unwrap_or_else(|| json!({}));
            scene
                .observed
                .insert((*name).to_owned(), self.report(name, &composed.object.to_value(), before, composition));
        }
        let mut status = composition.status.as_ref().map_or_else(|| json!({}), Node::to_value);
        status["conditions"] = Value::Array(crossplane::conditions(composition));
        scene.composite["status"] = status;
    }

    /// An emitted resource as its provider would report it.
    fn report(&self, name: &str, emitted: &Value, mut observed: Value, composition: &Composition) -> Value {
        tree::overlay(&mut observed, emitted);
        observed["metadata"]["annotations"][RESOURCE_NAME] = name.into();
        let at_provider = match emitted.pointer("/spec/forProvider/manifest") {
            None => self.queue(emitted),
            Some(manifest) => {
                let live = observed.pointer("/status/atProvider/manifest").cloned().unwrap_or_else(|| json!({}));
                json!({"manifest": self.live_object(name, manifest, live, composition)})
            }
        };
        let synced = json!({"type": "Synced", "status": "True", "reason": "ReconcileSuccess"});
        let ready = json!({"type": "Ready", "status": "True", "reason": "Available"});
        observed["status"] = json!({"atProvider": at_provider, "conditions": [ready, synced]});
        observed
    }

    fn queue(&self, emitted: &Value) -> Value {
        let provider = emitted.pointer("/spec/forProvider");
        let text = |key: &str| provider.and_then(|provider| provider.get(key)?.as_str()).unwrap_or_default();
        let (name, region, account) = (text("name"), text("region"), &self.account);
        let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        let url = format!("https://sqs.{region}.{domain}/{account}/{name}");
        json!({
            "arn": format!("arn:{}:sqs:{region}:{account}:{name}", sqs::partition(region)),
            "id": url,
            "name": name,
            "region": region,
            "tags": provider.and_then(|provider| provider.get("tags")),
            "url": url,
        })
    }

    /// A Kubernetes object after it was applied.
    fn live_object(&self, name: &str, manifest: &Value, mut live: Value, composition: &Composition) -> Value {
        tree::overlay(&mut live, manifest);
        live["metadata"]["uid"] = format!("simulated-{name}").into();
        live["metadata"]["generation"] = 1.into();
        match name {
            SCALED_OBJECT => {
                let ready = json!({"type": "Ready", "status": "True", "reason": "ScaledObjectReady"});
                let hpa = live.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
                live["status"] = json!({"conditions": [ready], "hpaName": format!("keda-hpa-{hpa}")});
            }
            DEPLOYMENT => {
                let replicas = replicas(manifest, composition, self.end);
                live["spec"]["replicas"] = replicas.into();
                live["status"] = deployment(replicas);
            }
            _ => {}
        }
        live
    }
}

/// How many pods there are: what the Deployment says, else what KEDA would make it.
fn replicas(manifest: &Value, composition: &Composition, end: End) -> i64 {
    if let Some(fixed) = manifest.pointer("/spec/replicas").and_then(Value::as_i64) {
        return fixed;
    }
    let scaled = composition.resources.get(SCALED_OBJECT).and_then(|scaled| resources::manifest(&scaled.object));
    let min = match scaled.and_then(|scaled| scaled.at(&["spec", "minReplicaCount"])) {
        Some(Encoded::Number(min)) => min as i64,
        _ => 0,
    };
    match end {
        End::Ready => min.max(1),
        End::Napping => min,
    }
}

fn deployment(replicas: i64) -> Value {
    let available = json!({"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"});
    let progressing = json!({"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"});
    let mut status = json!({"observedGeneration": 1, "conditions": [available, progressing]});
    if replicas > 0 {
        for count in ["replicas", "readyReplicas", "updatedReplicas", "availableReplicas"] {
            status[count] = replicas.into();
        }
    }
    status
}
