//! Certificates like those of Crossplane: RSA 2048, PKCS#1, serial 2022, one subject for CA and leaf, no AKI.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_RSA_SHA256, SanType, SerialNumber, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer};

pub const SERVER_KEY: &str = include_str!("keys/server.pem");
pub const CLIENT_KEY: &str = include_str!("keys/client.pem");

/// What a leaf may be wrong in.
#[derive(Clone, Copy, PartialEq)]
pub enum Leaf {
    Server,
    Client,
    ExpiredClient,
    FutureClient,
}

/// Crossplane's root CA, or one that only looks like it.
pub struct Authority(KeyPair);

impl Authority {
    pub fn ours() -> Self {
        Self(key(include_str!("keys/ca.pem")))
    }

    pub fn other() -> Self {
        Self(key(include_str!("keys/other-ca.pem")))
    }

    pub fn pem(&self) -> String {
        self.params().self_signed(&self.0).unwrap().pem()
    }

    fn params(&self) -> CertificateParams {
        let mut params = subject();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params
    }

    /// A leaf for one of the keys.
    pub fn leaf(&self, leaf: Leaf, pkcs1: &str) -> String {
        let mut params = subject();
        params.key_usages = vec![KeyUsagePurpose::KeyEncipherment, KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![match leaf {
            Leaf::Server => ExtendedKeyUsagePurpose::ServerAuth,
            _ => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        let names = ["function-asya", "function-asya.crossplane-system", "function-asya.crossplane-system.svc"];
        params.subject_alt_names = names.map(|name| SanType::DnsName(name.try_into().unwrap())).to_vec();
        match leaf {
            Leaf::ExpiredClient => params.not_after = date_time_ymd(2023, 1, 1),
            Leaf::FutureClient => params.not_before = date_time_ymd(2090, 1, 1),
            Leaf::Server | Leaf::Client => {}
        }
        params.signed_by(&key(pkcs1), &Issuer::new(self.params(), &self.0)).unwrap().pem()
    }

    /// The three files of a server.
    pub fn files(&self) -> [(&'static str, String); 3] {
        [("tls.crt", self.leaf(Leaf::Server, SERVER_KEY)), ("tls.key", SERVER_KEY.to_owned()), ("ca.crt", self.pem())]
    }
}

fn subject() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for kind in [DnType::CommonName, DnType::OrganizationName] {
        params.distinguished_name.push(kind, "Crossplane");
    }
    params.serial_number = Some(SerialNumber::from(2022));
    (params.not_before, params.not_after) = (date_time_ymd(2022, 1, 1), date_time_ymd(2099, 1, 1));
    params
}

/// rcgen reads PKCS#8, which is PKCS#1 with a head: an algorithm, and the key as an octet string.
fn key(pkcs1: &str) -> KeyPair {
    let key = PrivatePkcs1KeyDer::from_pem_slice(pkcs1.as_bytes()).unwrap();
    let key = key.secret_pkcs1_der();
    let length = |length: usize| [0x82, (length >> 8) as u8, length as u8];
    let rsa = [2, 1, 0, 0x30, 0x0d, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
    let octets = [&[4][..], &length(key.len()), key].concat();
    let der = [&[0x30][..], &length(rsa.len() + octets.len()), &rsa, &octets].concat();
    KeyPair::from_pkcs8_der_and_sign_algo(&PrivatePkcs8KeyDer::from(der), &PKCS_RSA_SHA256).unwrap()
}

pub fn private_key(pkcs1: &str) -> PrivateKeyDer<'static> {
    PrivateKeyDer::from_pem_slice(pkcs1.as_bytes()).unwrap()
}

/// Writes files as they are.
pub fn write(folder: &Path, files: &[(&str, String)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// Mounts files as the kubelet does: links through `..data`, which is swapped whole.
pub fn mount(folder: &Path, generation: usize, files: &[(&str, String)]) {
    let version = format!("..{generation}");
    fs::create_dir(folder.join(&version)).unwrap();
    write(&folder.join(&version), files);
    symlink(&version, folder.join("..data_tmp")).unwrap();
    fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
    for (name, _) in files {
        // Made by the first generation, and never touched again.
        let _ = symlink(format!("..data/{name}"), folder.join(name));
    }
}
