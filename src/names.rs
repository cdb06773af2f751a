//! What Kubernetes takes as a name.

/// True for what Kubernetes takes as an object's name: a DNS subdomain of at most 253 characters.
pub fn is_object_name(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// True for a DNS label of at most 63 characters.
pub fn is_dns_label(name: &str) -> bool {
    name.len() <= 63 && !name.contains('.') && is_object_name(name)
}
