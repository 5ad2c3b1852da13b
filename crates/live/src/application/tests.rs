use std::sync::OnceLock;

use mario_testing::Scratch;

use super::*;
use crate::identity::{Authority, write_private, write_public};

struct World {
    authority: Authority,
    shop: Identity,
}

fn identity(scratch: &Scratch, authority: &Authority, id: &str, days: i64) -> Identity {
    let hosts = vec!["shop.example.org".to_owned()];
    let certified = authority.application(application_id(id).expect("a name"), hosts, vec!["/shop".to_owned()]);
    let issued = authority.issue(&certified, days).expect("issued");
    let [certificate, key] = ["pem", "key"].map(|ending| scratch.path().join(format!("{id}.{ending}")));
    write_public(&certificate, &issued.certificate_pem).expect("written");
    write_private(&key, &issued.key_pem).expect("written");
    Identity::load(&scratch.path().join("ca.pem"), &certificate, &key).expect("valid")
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let scratch = Scratch::new("application");
        let authority = Authority::new("harbour", 10).expect("an authority");
        authority.save(scratch.path()).expect("saved");
        let shop = identity(&scratch, &authority, "shop", 5);
        World { authority, shop }
    })
}

fn file() -> ApplicationFile {
    toml::from_str(
        r#"
        id = "shop"
        hardware = 2
        max_rate = 10
        max_latency = 2.5
        policy = "idle.pl"
        hosts = ["Shop.Example.org"]
        prefixes = ["/shop"]
        facts = { region = "eu", cores = 4 }
        run = { driver = "sample" }
        "#,
    )
    .expect("an application")
}

fn policy() -> PolicyText {
    PolicyText {
        name: "idle".to_owned(),
        files: vec![("idle.pl".to_owned(), "operation(_, _, _) :- fail.".to_owned())],
        memory: 0,
    }
}

#[test]
fn a_signed_application_opens_under_its_authority() {
    let World { shop, .. } = world();
    let document = sign(&file(), &policy(), shop).expect("signed");
    let opened = open(&document, shop.authority(), UnixTime::now()).expect("checked");
    assert_eq!(opened.descriptor.application.hardware, Hardware::units(2));
    assert_eq!(opened.descriptor.policy, policy());
    assert_eq!(&*opened.descriptor.document, &*document);
    let names = &opened.names;
    assert_eq!((&*names.hosts, &*names.prefixes), (&["shop.example.org".to_owned()][..], &["/shop".to_owned()][..]));
    let at = UnixTime::now();
    let id = application_id("shop").expect("a name");
    check_names(&id, names, shop.authority(), at).expect("the certificate proves them");
    let line =
        |id: &ApplicationId, names: &Names| check_names(id, names, shop.authority(), at).expect_err("wrong").line();
    let other = Names { hosts: vec!["bank.example.org".to_owned()], ..Names::clone(names) };
    assert!(line(&id, &other).contains("does not list bank.example.org"), "{}", line(&id, &other));
    let bank = application_id("bank").expect("a name");
    assert!(line(&bank, names).contains("spiffe://harbour/application/shop"), "{}", line(&bank, names));
    let garbage = Names { certificate: [7; 40].into(), ..Names::clone(names) };
    assert!(line(&id, &garbage).contains("cannot believe the names of application `shop`"));
    assert_eq!(opened.run.driver, "sample");
}

#[test]
fn every_changed_byte_is_detected() {
    let World { shop, .. } = world();
    let document = sign(&file(), &policy(), shop).expect("signed");
    for position in (0..document.len()).step_by(7) {
        let mut changed = document.clone();
        changed[position] ^= 1;
        let result = open(&changed, shop.authority(), UnixTime::now());
        assert!(result.is_err(), "byte {position} was changed");
    }
    for length in (0..document.len()).step_by(11) {
        assert!(open(&document[..length], shop.authority(), UnixTime::now()).is_err(), "{length} bytes");
    }
}

#[test]
fn names_not_in_the_certificate_cannot_be_claimed() {
    let World { authority, shop } = world();
    let line = |file: &ApplicationFile| sign(file, &policy(), shop).expect_err("refused").line();
    let other = ApplicationFile { hosts: vec!["bank.example.org".to_owned()], ..file() };
    assert!(line(&other).contains("cannot have the host name bank.example.org"), "{}", line(&other));
    let other = ApplicationFile { prefixes: vec!["/".to_owned()], ..file() };
    assert!(line(&other).contains("cannot have the path prefix /"), "{}", line(&other));
    let other = ApplicationFile { id: "bank".to_owned(), ..file() };
    assert!(line(&other).contains("spiffe://harbour/application/shop"), "{}", line(&other));
    let long = PolicyText { files: vec![("a.pl".to_owned(), "% ".repeat(DOCUMENT_BYTES_MAX))], ..policy() };
    assert!(sign(&file(), &long, shop).expect_err("too long").line().contains("at most"));

    // Rejects a document signed under another authority, and one whose certificate has expired.
    let stranger = Authority::new("harbour", 10).expect("an authority");
    let scratch = Scratch::new("stranger");
    stranger.save(scratch.path()).expect("saved");
    let theirs = identity(&scratch, &stranger, "shop", 5);
    let document = sign(&file(), &policy(), &theirs).expect("signed");
    assert!(open(&document, shop.authority(), UnixTime::now()).is_err());
    let document = sign(&file(), &policy(), shop).expect("signed");
    let later = UnixTime::since_unix_epoch(Duration::from_secs(UnixTime::now().as_secs() + 9 * 86_400));
    let line = open(&document, shop.authority(), later).expect_err("expired").line();
    assert!(line.contains("expired"), "{line}");
    assert_eq!(authority.colony(), "harbour");
}
