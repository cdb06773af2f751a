//! The parts of a spec that are open, with the fields their owners know.

use k8s_openapi::api::core::v1 as core;
use serde::Deserialize;

use super::fields::fields_of;

/// A map, or each entry of a list.
pub struct Part {
    fields: Fields,
    below: &'static [(&'static str, &'static Part)],
}

enum Fields {
    /// Others check them.
    Any,
    /// Those of a type of Kubernetes.
    Kubernetes(fn() -> &'static [&'static str]),
    /// Those of KEDA.
    Keda(&'static [&'static str]),
}

impl Part {
    /// The part that stands at a key.
    pub fn below(&self, key: &str) -> Option<&'static Part> {
        self.below.iter().find(|(name, _)| *name == key).map(|(_, part)| *part)
    }

    /// True if the key may stand here.
    pub fn takes(&self, key: &str) -> bool {
        matches!(self.fields, Fields::Any) || self.fields().contains(&key)
    }

    /// The known fields.
    pub fn fields(&self) -> &'static [&'static str] {
        match self.fields {
            Fields::Any => &[],
            Fields::Kubernetes(fields) => fields(),
            Fields::Keda(fields) => fields,
        }
    }

    /// Who knows them.
    pub fn owner(&self) -> &'static str {
        match self.fields {
            Fields::Keda(_) => "KEDA",
            Fields::Any | Fields::Kubernetes(_) => "Kubernetes",
        }
    }

    const fn any(below: &'static [(&'static str, &'static Part)]) -> Self {
        Self { fields: Fields::Any, below }
    }

    const fn of(fields: fn() -> &'static [&'static str], below: &'static [(&'static str, &'static Part)]) -> Self {
        Self { fields: Fields::Kubernetes(fields), below }
    }

    const fn leaf<T: for<'de> Deserialize<'de>>() -> Self {
        Self::of(fields_of::<T>, &[])
    }
}

/// The spec, as far as it has open parts.
pub static SPEC: Part = Part::any(&[
    ("env", &VARIABLES),
    ("resources", &RESOURCES),
    ("tolerations", &TOLERATION),
    ("volumes", &VOLUME),
    ("volumeMounts", &VOLUME_MOUNT),
    ("initContainers", &CONTAINER),
    ("sidecars", &CONTAINER),
    ("sidecar", &SIDECAR),
    ("stateProxy", &STATE_PROXY),
    ("scaling", &SCALING),
]);

static VARIABLES: Part = Part::any(&[("valueFrom", &VALUE_FROM)]);
static SIDECAR: Part = Part::any(&[("env", &VARIABLES), ("resources", &RESOURCES)]);
static STATE_PROXY: Part = Part::any(&[("connector", &SIDECAR)]);
static SCALING: Part = Part::any(&[("additionalTriggers", &TRIGGER)]);

static TRIGGER: Part = Part {
    fields: Fields::Keda(&["authenticationRef", "metadata", "metricType", "name", "type", "useCachedMetrics"]),
    below: &[("authenticationRef", &Part { fields: Fields::Keda(&["kind", "name"]), below: &[] })],
};

static RESOURCES: Part =
    Part::of(fields_of::<core::ResourceRequirements>, &[("claims", &Part::leaf::<core::ResourceClaim>())]);
static TOLERATION: Part = Part::leaf::<core::Toleration>();
static VOLUME_MOUNT: Part = Part::leaf::<core::VolumeMount>();

static CONTAINER: Part = Part::of(
    fields_of::<core::Container>,
    &[
        ("env", &Part::of(fields_of::<core::EnvVar>, &[("valueFrom", &VALUE_FROM)])),
        (
            "envFrom",
            &Part::of(
                fields_of::<core::EnvFromSource>,
                &[
                    ("configMapRef", &Part::leaf::<core::ConfigMapEnvSource>()),
                    ("secretRef", &Part::leaf::<core::SecretEnvSource>()),
                ],
            ),
        ),
        ("lifecycle", &Part::of(fields_of::<core::Lifecycle>, &[("postStart", &HANDLER), ("preStop", &HANDLER)])),
        ("livenessProbe", &PROBE),
        ("readinessProbe", &PROBE),
        ("startupProbe", &PROBE),
        ("ports", &Part::leaf::<core::ContainerPort>()),
        ("resources", &RESOURCES),
        (
            "securityContext",
            &Part::of(
                fields_of::<core::SecurityContext>,
                &[
                    ("capabilities", &Part::leaf::<core::Capabilities>()),
                    ("seccompProfile", &Part::leaf::<core::SeccompProfile>()),
                ],
            ),
        ),
        ("volumeDevices", &Part::leaf::<core::VolumeDevice>()),
        ("volumeMounts", &VOLUME_MOUNT),
    ],
);

static HANDLER: Part = Part::of(fields_of::<core::LifecycleHandler>, ACTIONS);
static PROBE: Part = Part::of(fields_of::<core::Probe>, ACTIONS);

/// What a probe or handler does.
const ACTIONS: &[(&str, &Part)] = &[
    ("exec", &Part::leaf::<core::ExecAction>()),
    ("grpc", &Part::leaf::<core::GRPCAction>()),
    ("httpGet", &Part::leaf::<core::HTTPGetAction>()),
    ("sleep", &Part::leaf::<core::SleepAction>()),
    ("tcpSocket", &Part::leaf::<core::TCPSocketAction>()),
];

static VALUE_FROM: Part = Part::of(
    fields_of::<core::EnvVarSource>,
    &[
        ("configMapKeyRef", &Part::leaf::<core::ConfigMapKeySelector>()),
        ("fieldRef", &Part::leaf::<core::ObjectFieldSelector>()),
        ("fileKeyRef", &Part::leaf::<core::FileKeySelector>()),
        ("resourceFieldRef", &Part::leaf::<core::ResourceFieldSelector>()),
        ("secretKeyRef", &Part::leaf::<core::SecretKeySelector>()),
    ],
);

/// The kinds of volumes that are more than a few in the wild; of the others the kind alone is checked.
static VOLUME: Part = Part::of(
    fields_of::<core::Volume>,
    &[
        ("configMap", &Part::of(fields_of::<core::ConfigMapVolumeSource>, ITEMS)),
        ("csi", &Part::leaf::<core::CSIVolumeSource>()),
        ("downwardAPI", &Part::leaf::<core::DownwardAPIVolumeSource>()),
        ("emptyDir", &Part::leaf::<core::EmptyDirVolumeSource>()),
        ("ephemeral", &Part::of(fields_of::<core::EphemeralVolumeSource>, &[("volumeClaimTemplate", &CLAIM)])),
        ("hostPath", &Part::leaf::<core::HostPathVolumeSource>()),
        ("image", &Part::leaf::<core::ImageVolumeSource>()),
        ("nfs", &Part::leaf::<core::NFSVolumeSource>()),
        ("persistentVolumeClaim", &Part::leaf::<core::PersistentVolumeClaimVolumeSource>()),
        ("projected", &Part::of(fields_of::<core::ProjectedVolumeSource>, &[("sources", &PROJECTION)])),
        ("secret", &Part::of(fields_of::<core::SecretVolumeSource>, ITEMS)),
    ],
);

const ITEMS: &[(&str, &Part)] = &[("items", &Part::leaf::<core::KeyToPath>())];

static CLAIM: Part = Part::of(
    fields_of::<core::PersistentVolumeClaimTemplate>,
    &[("spec", &Part::leaf::<core::PersistentVolumeClaimSpec>())],
);

static PROJECTION: Part = Part::of(
    fields_of::<core::VolumeProjection>,
    &[
        ("configMap", &Part::of(fields_of::<core::ConfigMapProjection>, ITEMS)),
        ("downwardAPI", &Part::leaf::<core::DownwardAPIProjection>()),
        ("secret", &Part::of(fields_of::<core::SecretProjection>, ITEMS)),
        ("serviceAccountToken", &Part::leaf::<core::ServiceAccountTokenProjection>()),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part's name, and every part below it.
    fn parts(part: &'static Part, name: &str, all: &mut Vec<(String, &'static Part)>) {
        all.push((name.to_owned(), part));
        part.below.iter().for_each(|(key, part)| parts(part, &format!("{name}.{key}"), all));
    }

    #[test]
    fn every_part_stands_at_a_field_of_its_owner() {
        let mut all = Vec::new();
        parts(&SPEC, "spec", &mut all);
        for (name, part) in all {
            assert!(matches!(part.fields, Fields::Any) || !part.fields().is_empty(), "{name} has no fields");
            let handler = name.contains("postStart") || name.contains("preStop");
            for (key, _) in part.below {
                assert!(part.takes(key) || handler || *key == "sleep", "{name} has no field {key}");
            }
        }
    }

    #[test]
    fn types_tell_their_fields() {
        assert_eq!(TOLERATION.fields(), ["effect", "key", "operator", "tolerationSeconds", "value"]);
    }
}
