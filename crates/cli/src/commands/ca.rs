//! `mario ca …`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use mario_live::identity::{
    Authority, CertificateContent, Role, application_id, check_host, check_prefix, node_id, write_private, write_public,
};

use crate::live::failure;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario ca`.
#[derive(Clone, Debug, Args)]
#[command(
    subcommand_required = true,
    after_help = "Examples:
  mario ca init harbour
  mario ca node edge-1
  mario ca operator ada --role look --role deploy --role drain
  mario ca application shop --host shop.example.org"
)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// A subcommand of `mario ca`.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Create the certificate authority of a new colony.
    Init(InitArguments),
    /// Create the key and the certificate of a node.
    Node(NodeArguments),
    /// Create the key and the certificate of an operator.
    Operator(OperatorArguments),
    /// Create the key and the certificate of an application; the holder of the key owns the application.
    Application(ApplicationArguments),
}

/// Arguments of `mario ca init`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario ca init harbour
  mario ca init harbour --out /etc/mario/ca --days 3650

Keep ca.key secret: its holder can impersonate every node, operator and application of the colony. It is needed only to create further certificates.")]
pub struct InitArguments {
    /// The name of the colony: letters, digits, `.`, `_` and `-`
    #[arg(value_name = "COLONY")]
    pub colony: String,
    /// The directory for ca.pem and ca.key
    #[arg(long, value_name = "DIR", default_value = "ca")]
    pub out: PathBuf,
    /// How many days the certificate is valid
    #[arg(long, value_name = "DAYS", default_value_t = 3650, value_parser = clap::value_parser!(u32).range(1..=36500))]
    pub days: u32,
}

/// Arguments that all certificates share.
#[derive(Clone, Debug, Args)]
pub struct IssueArguments {
    /// The directory of the certificate authority
    #[arg(long, value_name = "DIR", default_value = "ca")]
    pub ca: PathBuf,
    /// The directory for the certificate and the key
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// How many days the certificate is valid
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36500))]
    pub days: u32,
}

/// Arguments of `mario ca node`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario ca node edge-1
  mario ca node edge-1 --host edge-1.example.org --host 10.0.0.7")]
pub struct NodeArguments {
    /// The id of the node
    #[arg(value_name = "NODE")]
    pub node: String,
    /// A host name or an address for which the certificate is also valid, so that browsers and monitoring can verify
    /// the node; other nodes and operators need none; may be repeated
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    #[command(flatten)]
    pub issue: IssueArguments,
}

/// Arguments of `mario ca operator`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario ca operator ada --role look --role deploy --role drain
  mario ca operator monitoring --role look")]
pub struct OperatorArguments {
    /// The name of the operator
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What the operator may do; may be repeated
    #[arg(long = "role", value_name = "ROLE", value_enum, required = true)]
    pub roles: Vec<RoleWord>,
    #[command(flatten)]
    pub issue: IssueArguments,
}

/// What an operator may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleWord {
    /// Read the state of nodes.
    Look,
    /// Deploy; with `look`, also update, undeploy and pin.
    Deploy,
    /// Drain nodes, and declare nodes lost.
    Drain,
}

/// Arguments of `mario ca application`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario ca application shop
  mario ca application shop --host shop.example.org --prefix /shop")]
pub struct ApplicationArguments {
    /// The id of the application
    #[arg(value_name = "APPLICATION")]
    pub application: String,
    /// A host name whose client requests the application may receive, in addition to APPLICATION and
    /// APPLICATION.COLONY; may be repeated
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// A path prefix whose client requests the application may receive, if their host name is of no application; may be
    /// repeated
    #[arg(long = "prefix", value_name = "PATH")]
    pub prefixes: Vec<String>,
    #[command(flatten)]
    pub issue: IssueArguments,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Init(arguments) => init(arguments, console),
        Command::Node(NodeArguments { node, hosts, issue }) => {
            let id = node_id(node).map_err(|fault| failure(&fault))?;
            for host in hosts.iter().filter(|host| host.parse::<std::net::IpAddr>().is_err()) {
                check_host(host).map_err(|fault| failure(&fault))?;
            }
            make(issue, node, console, |authority| Ok(authority.node(id.clone(), hosts.clone())))
        }
        Command::Operator(OperatorArguments { name, roles, issue }) => {
            let roles: Vec<Role> = roles.iter().map(|role| role.role()).collect();
            make(issue, name, console, |authority| authority.operator(name, roles.clone()))
        }
        Command::Application(ApplicationArguments { application, hosts, prefixes, issue }) => {
            let id = application_id(application).map_err(|fault| failure(&fault))?;
            let hosts = hosts.iter().map(|host| check_host(host)).collect::<Result<Vec<_>, _>>();
            let hosts = hosts.map_err(|fault| failure(&fault))?;
            for prefix in prefixes {
                check_prefix(prefix).map_err(|fault| failure(&fault))?;
            }
            make(issue, application, console, |authority| {
                Ok(authority.application(id.clone(), hosts.clone(), prefixes.clone()))
            })
        }
    }
}

impl RoleWord {
    fn role(self) -> Role {
        match self {
            RoleWord::Look => Role::Look,
            RoleWord::Deploy => Role::Deploy,
            RoleWord::Drain => Role::Drain,
        }
    }
}

fn init(arguments: &InitArguments, console: &Console) -> Result<Outcome, Failure> {
    let authority = Authority::new(&arguments.colony, arguments.days).map_err(|fault| failure(&fault))?;
    authority.save(&arguments.out).map_err(|fault| failure(&fault))?;
    console.inform(format!(
        "the authority of colony {} is in {}; keep ca.key secret",
        arguments.colony,
        arguments.out.display()
    ));
    Ok(Outcome::Done)
}

fn make(
    issue: &IssueArguments,
    name: &str,
    console: &Console,
    certified: impl FnOnce(&Authority) -> Result<CertificateContent, mario_live::LiveError>,
) -> Result<Outcome, Failure> {
    let authority = Authority::load(&issue.ca).map_err(|fault| failure(&fault))?;
    let certified = certified(&authority).map_err(|fault| failure(&fault))?;
    let issued = authority.issue(&certified, i64::from(issue.days)).map_err(|fault| failure(&fault))?;
    let [certificate, key] = ["pem", "key"].map(|ending| issue.out.join(format!("{name}.{ending}")));
    // Checks both files before writing any, because a leftover key would block the next attempt.
    for path in [&certificate, &key] {
        refuse_existing(path)?;
    }
    write_private(&key, &issued.key_pem).map_err(|fault| failure(&fault))?;
    write_public(&certificate, &issued.certificate_pem).map_err(|fault| failure(&fault))?;
    console.inform(format!("{} and {} belong to {}", certificate.display(), key.display(), issued.uri));
    Ok(Outcome::Done)
}

fn refuse_existing(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() {
        let fault = mario_live::LiveError::new(format!("{} is there already", path.display()));
        return Err(failure(
            &fault.hint("keys are never overwritten: name another directory, or remove the file first"),
        ));
    }
    Ok(())
}
