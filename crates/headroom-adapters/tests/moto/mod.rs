//! moto, a pretended AWS that keeps state as the real one does. `make moto` installs it; without it the tests say so.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// The server that the tests share. It ends with the test program: its input does.
static SHARED: Mutex<Option<(Child, u16)>> = Mutex::new(None);

/// A pretended AWS. Tests share it, each with groups of its own.
#[derive(Clone, Debug)]
pub(crate) struct Moto {
    pub(crate) endpoint: String,
}

impl Moto {
    /// The one that all tests share; None where it is not installed.
    ///
    /// # Panics
    /// If it is not installed and `HEADROOM_REQUIRE_ALL` is set: then nothing may be skipped.
    pub(crate) fn shared() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testenv");
        let python = folder.join("bin/moto/bin/python");
        if !folder.join("bin/moto/installed").exists() {
            let message =
                format!("moto is not in {}; hint: `make moto` installs it (it needs Python)", python.display());
            assert!(std::env::var_os("HEADROOM_REQUIRE_ALL").is_none(), "{message}");
            eprintln!("skipped: {message}");
            return None;
        }
        let mut shared = SHARED.lock().unwrap();
        let (_, port) = shared.get_or_insert_with(|| start(&python, &folder.join("moto/serve.py")));
        Some(Moto { endpoint: format!("http://127.0.0.1:{port}/") })
    }

    /// Calls an action of an API, such as `autoscaling`.
    pub(crate) async fn call(&self, service: &str, action: &str, parameters: &[(&str, &str)]) -> String {
        let version = if service == "ec2" { "2016-11-15" } else { "2011-01-01" };
        let mut form = BTreeMap::from([("Action", action), ("Version", version)]);
        form.extend(parameters.iter().copied());
        let scope = format!("Credential=AKID/20260101/{REGION}/{service}/aws4_request");
        let request = reqwest::Client::new().post(&self.endpoint).form(&form);
        let request =
            request.header("authorization", format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0"));
        let answer = request.send().await.expect("moto answers");
        let (status, text) = (answer.status(), answer.text().await.expect("a text"));
        assert!(status.is_success(), "{action}: {status} {text}");
        text
    }

    /// Makes a launch template.
    pub(crate) async fn launch_template(&self, name: &str, data: &[(&str, &str)]) {
        let keys: Vec<String> = data.iter().map(|(key, _)| format!("LaunchTemplateData.{key}")).collect();
        let data = keys.iter().map(String::as_str).zip(data.iter().map(|(_, value)| *value));
        let parameters: Vec<_> = [("LaunchTemplateName", name)].into_iter().chain(data).collect();
        self.call("ec2", "CreateLaunchTemplate", &parameters).await;
    }

    /// Makes an Auto Scaling group of `m5.large` in one zone, with these limits and desired capacity, and what else is
    /// said.
    pub(crate) async fn group(&self, name: &str, [min, max, desired]: [u32; 3], more: &[(&str, &str)]) {
        let image = ("ImageId", "ami-0123456789abcdef0");
        self.launch_template(name, &[image, ("InstanceType", "m5.large")]).await;
        let [min, max, desired] = [min, max, desired].map(|number| number.to_string());
        let mut parameters = BTreeMap::from([
            ("AutoScalingGroupName", name),
            ("LaunchTemplate.LaunchTemplateName", name),
            ("LaunchTemplate.Version", "$Latest"),
            ("AvailabilityZones.member.1", "eu-west-1a"),
            ("MinSize", &min),
            ("MaxSize", &max),
            ("DesiredCapacity", &desired),
        ]);
        parameters.extend(more.iter().copied());
        self.call("autoscaling", "CreateAutoScalingGroup", &parameters.into_iter().collect::<Vec<_>>()).await;
    }
}

/// The region of all that the tests make.
pub(crate) const REGION: &str = "eu-west-1";

fn start(python: &Path, script: &Path) -> (Child, u16) {
    let mut command = Command::new(python);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("moto starts");
    let mut line = String::new();
    let output = child.stdout.take().expect("its output");
    BufReader::new(output).read_line(&mut line).expect("it says its port");
    let port = line.trim().parse().expect("a port");
    (child, port)
}
