//! `headroom serve-provider`: offers the groups of a configuration to Cluster Autoscaler.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use headroom_adapters::cloud::externalgrpc::server::ServerTls;

use super::connection::Connection;
use super::log::Log;
use crate::live;

/// Arguments of `headroom serve-provider`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The configuration with the groups, usually headroom.yaml.
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,

    #[command(flatten)]
    connection: Connection,

    /// The namespace of the objects that a cloud keeps in the cluster.
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE", default_value = "headroom")]
    namespace: String,

    /// Address and port to listen at. Beyond this machine only with a certificate.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8086")]
    listen: SocketAddr,

    /// The certificate of this service, in PEM.
    #[arg(long, value_name = "FILE", requires_all = ["key", "cacert"])]
    cert: Option<PathBuf>,

    /// The key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires_all = ["cert", "cacert"])]
    key: Option<PathBuf>,

    /// The certificates, in PEM, that those of clients are signed by. Nobody else is answered.
    #[arg(long, value_name = "FILE", requires_all = ["cert", "key"])]
    cacert: Option<PathBuf>,

    #[command(flatten)]
    log: Log,
}

/// Runs `headroom serve-provider`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    args.log.start()?;
    let tls = match (args.cert, args.key, args.cacert) {
        (Some(certificate), Some(key), Some(ca)) => Some(ServerTls { certificate, key, ca }),
        _ => None,
    };
    let options = live::ServeOptions {
        config: args.config,
        kubeconfig: args.connection.kubeconfig,
        context: args.connection.context,
        namespace: args.namespace,
        listen: args.listen,
        tls,
    };
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(live::serve(options))?;
    Ok(ExitCode::SUCCESS)
}
