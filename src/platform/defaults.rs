//! The built-in settings, which are a layer like any other.

use serde_json::{Value, json};

use super::image::DEFAULT_IMAGE;

/// The settings nobody has to set.
pub fn defaults() -> Value {
    json!({
        "environmentConfig": "",
        "stages": [],
        "awsRegion": "us-east-1",
        "awsAccountId": "",
        "awsProviderConfig": {"name": "default", "endpoint": {"url": ""}},
        "awsResourceTags": {},
        "sqs": {
            "visibilityTimeoutSeconds": 30,
            "messageRetentionSeconds": 345_600,
            "receiveWaitTimeSeconds": 20,
            "dlq": {"mode": "None", "maxReceiveCount": 3},
            "deletionPolicy": "Delete",
        },
        "kubernetesProviderConfig": {"name": "in-cluster"},
        "irsa": {"enabled": false, "mode": "IRSA", "serviceAccountName": "asya-actors", "roleArn": "", "roleArnPattern": ""},
        "keda": {
            "authProvider": "podIdentity",
            "secretRef": {"name": "", "accessKeyIdKey": "AWS_ACCESS_KEY_ID", "secretAccessKeyKey": "AWS_SECRET_ACCESS_KEY"},
            "watch": false,
        },
        "sidecar": {
            "image": DEFAULT_IMAGE,
            "resources": {},
            "socketDir": "/var/run/asya",
            "runtimeConfigMap": "asya-runtime",
            "runtimeMountPath": "/opt/asya/asya_runtime.py",
            "gatewayURL": "",
            "sqsEndpoint": "",
            "sqsWaitTimeSeconds": "",
            "awsCredsSecret": "",
            "awsRegion": "",
            "tracingEndpoint": "",
            "tracingProtocol": "",
        },
        "flavors": {"inline": "Leaf", "unknownFields": "Reject"},
    })
}
