use std::path::PathBuf;

use mario_testing::Scratch;
use rustls::pki_types::UnixTime;

use super::*;

fn saved(scratch: &Scratch, name: &str, issued: &IssuedCertificate) -> [PathBuf; 2] {
    let [certificate, key] = ["pem", "key"].map(|ending| scratch.path().join(format!("{name}.{ending}")));
    write_public(&certificate, &issued.certificate_pem).expect("written");
    write_private(&key, &issued.key_pem).expect("written");
    [certificate, key]
}

#[test]
fn a_certificate_has_its_content_and_another_authority_is_rejected() {
    let scratch = Scratch::new("identity");
    let authority = Authority::new("harbour", 10).expect("an authority");
    authority.save(scratch.path()).expect("saved");
    assert!(authority.save(scratch.path()).is_err(), "keys are never overwritten");
    // The loaded authority issues certificates that verify under the original one.
    let authority = Authority::load(scratch.path()).expect("the same");
    let wanted = authority.application(
        application_id("shop").expect("a name"),
        vec!["shop.example.org".to_owned()],
        vec!["/shop".to_owned()],
    );
    let [certificate, key] = saved(&scratch, "shop", &authority.issue(&wanted, 5).expect("issued"));
    let identity = Identity::load(&scratch.path().join("ca.pem"), &certificate, &key).expect("valid");
    assert_eq!(*identity.certified(), wanted);
    let operator = authority.operator("ada", vec![Role::Look, Role::Drain]).expect("a name");
    let issued = authority.issue(&operator, 5).expect("issued");
    let [certificate, key] = saved(&scratch, "ada", &issued);
    let identity = Identity::load(&scratch.path().join("ca.pem"), &certificate, &key).expect("valid");
    assert_eq!(identity.certified().roles, [Role::Look, Role::Drain]);

    let other = Authority::new("harbour", 10).expect("an authority");
    write_public(&scratch.path().join("other.pem"), other.certificate_pem()).expect("written");
    let fault = Identity::load(&scratch.path().join("other.pem"), &certificate, &key).expect_err("another authority");
    assert!(fault.line().contains("not one of this colony's authority"), "{}", fault.line());
}

#[test]
fn expired_certificates_wrong_keys_and_readable_keys_are_rejected_with_a_remedy() {
    let scratch = Scratch::new("refused");
    let authority = Authority::new("harbour", 10).expect("an authority");
    authority.save(scratch.path()).expect("saved");
    let ca = scratch.path().join("ca.pem");
    let node = authority.node(node_id("edge-1").expect("a name"), Vec::new());
    let [old, old_key] = saved(&scratch, "old", &authority.issue(&node, -3).expect("issued"));
    let line = Identity::load(&ca, &old, &old_key).expect_err("expired").line();
    assert!(line.contains("expired 3 days ago") && line.contains("mario ca"), "{line}");
    let [certificate, key] = saved(&scratch, "new", &authority.issue(&node, 3).expect("issued"));
    let line = Identity::load(&ca, &certificate, &old_key).expect_err("another key").line();
    assert!(line.contains("not that of the certificate"), "{line}");
    let identity = Identity::load(&ca, &certificate, &key).expect("valid");
    let before = UnixTime::since_unix_epoch(std::time::Duration::from_secs(1_000_000));
    assert!(identity.check(before).expect_err("too early").line().contains("not valid yet"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("changed");
        let line = Identity::load(&ca, &certificate, &key).expect_err("readable").line();
        assert!(line.contains("chmod 600"), "{line}");
    }
}

#[test]
fn names_hosts_and_prefixes_are_checked() {
    for wrong in ["", "-a", "a b", "a/b", "ü", &"x".repeat(65)] {
        assert!(check_name("a node", wrong).is_err(), "{wrong}");
    }
    assert_eq!(node_id("7").expect("a number"), NodeId::number(7));
    assert_ne!(node_id("07").expect("a name"), NodeId::number(7));
    for wrong in ["", "a..b", "-a.b", "a_b"] {
        assert!(check_host(wrong).is_err(), "{wrong}");
    }
    for wrong in ["", "shop", "/shop/", "//", "/a/../b", "/a b"] {
        assert!(check_prefix(wrong).is_err(), "{wrong}");
    }
    assert!(check_prefix("/").is_ok() && check_prefix("/a/b").is_ok());
}
