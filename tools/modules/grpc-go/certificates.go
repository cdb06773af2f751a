package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// Crossplane's certificates: RSA of 2048 bits with a PKCS#1 key, serial number 2022, and one subject for CA and leaves.
var subject = pkix.Name{CommonName: "Crossplane", Organization: []string{"Crossplane"}, Country: []string{"Earth"}}

const tenYears = 10 * 365 * 24 * time.Hour

// An authority is a root CA.
type authority struct {
	certificate *x509.Certificate
	key         *rsa.PrivateKey
	pem         []byte
}

func newAuthority() authority {
	certificate := template(tenYears)
	certificate.IsCA, certificate.BasicConstraintsValid = true, true
	certificate.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	key := newKey()
	return authority{certificate, key, sign(certificate, certificate, key, key)}
}

// A leaf good for so long, in PEM, with its key.
func (a authority) leaf(usage x509.ExtKeyUsage, long time.Duration) (certificate, key []byte) {
	leaf := template(long)
	leaf.DNSNames = []string{"function-asya", host, host + ".svc"}
	leaf.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	own := newKey()
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(own)}
	return sign(leaf, a.certificate, own, a.key), pem.EncodeToMemory(block)
}

func template(long time.Duration) *x509.Certificate {
	began := time.Now().Add(-24 * time.Hour)
	return &x509.Certificate{
		SerialNumber: big.NewInt(2022), Subject: subject, Issuer: subject, NotBefore: began, NotAfter: time.Now().Add(long),
	}
}

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check("a key", err)
	return key
}

func sign(certificate, by *x509.Certificate, key, with *rsa.PrivateKey) []byte {
	der, err := x509.CreateCertificate(rand.Reader, certificate, by, &key.PublicKey, with)
	check("a certificate", err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func pair(certificate, key []byte) tls.Certificate {
	pair, err := tls.X509KeyPair(certificate, key)
	check("a pair", err)
	return pair
}

func pool(a authority) *x509.CertPool {
	pool := x509.NewCertPool()
	expect("the CA is read", pool.AppendCertsFromPEM(a.pem))
	return pool
}

// Mounts files as the kubelet does: through a link that is swapped whole.
func swap(folder string, generation int, files map[string][]byte) {
	version := fmt.Sprintf("..%d", generation)
	check("a folder", os.Mkdir(filepath.Join(folder, version), 0o700))
	for name, text := range files {
		check(name, os.WriteFile(filepath.Join(folder, version, name), text, 0o600))
	}
	check("a link", os.Symlink(version, filepath.Join(folder, "..data_tmp")))
	check("the swap", os.Rename(filepath.Join(folder, "..data_tmp"), filepath.Join(folder, "..data")))
	for name := range files {
		// Made by the first generation, and never touched again.
		_ = os.Symlink(filepath.Join("..data", name), filepath.Join(folder, name))
	}
}
