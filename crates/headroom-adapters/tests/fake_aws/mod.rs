//! A server on loopback that answers as the test says, for what a pretended AWS does not do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

/// The parameters of a call, `Action` among them.
pub(crate) type Parameters = BTreeMap<String, String>;

/// A server that answers as `script` says and keeps what it was asked.
pub(crate) struct FakeAws {
    pub(crate) endpoint: String,
    calls: Arc<Mutex<Vec<(Parameters, HeaderMap)>>>,
}

/// What it answers.
pub(crate) enum Answer {
    /// 200 with this body.
    Xml(String),
    /// An error of Auto Scaling.
    Error(u16, &'static str, &'static str),
    /// Anything else.
    Other(Response),
    /// That, after so long.
    Late(Duration, Response),
    /// Nothing, for longer than anybody waits.
    Silence,
}

impl FakeAws {
    pub(crate) async fn start(script: impl Fn(&Parameters) -> Answer + Clone + Send + Sync + 'static) -> Self {
        let calls: Arc<Mutex<Vec<(Parameters, HeaderMap)>>> = Arc::default();
        let kept = Arc::clone(&calls);
        let answer = move |headers: HeaderMap, body: String| {
            let (script, kept) = (script.clone(), Arc::clone(&kept));
            async move {
                let parameters: Parameters = form(&body);
                let answer = script(&parameters);
                kept.lock().unwrap().push((parameters, headers));
                respond(answer).await
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/", post(answer))).await });
        FakeAws { endpoint, calls }
    }

    /// What it was asked, in order.
    pub(crate) fn calls(&self) -> Vec<Parameters> {
        self.calls.lock().unwrap().iter().map(|(parameters, _)| parameters.clone()).collect()
    }

    /// How often it was asked for this action.
    pub(crate) fn asked(&self, action: &str) -> usize {
        self.calls().iter().filter(|call| call["Action"] == action).count()
    }

    /// The headers of the last call.
    pub(crate) fn headers(&self) -> HeaderMap {
        self.calls.lock().unwrap().last().expect("a call").1.clone()
    }
}

async fn respond(answer: Answer) -> Response {
    match answer {
        Answer::Xml(body) => body.into_response(),
        Answer::Error(status, code, message) => {
            let error = format!("<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>");
            let body = format!("<ErrorResponse>{error}<RequestId>1</RequestId></ErrorResponse>");
            (StatusCode::from_u16(status).unwrap(), body).into_response()
        }
        Answer::Other(response) => response,
        Answer::Late(wait, response) => {
            tokio::time::sleep(wait).await;
            response
        }
        Answer::Silence => std::future::pending().await,
    }
}

/// A group as Auto Scaling tells of it, with limits, desired capacity and machines by id and lifecycle state.
pub(crate) fn group(name: &str, limits: [u32; 3], machines: &[(&str, &str)], more: &str) -> Answer {
    groups(&[member(name, limits, machines, more)])
}

/// Several of them.
pub(crate) fn groups(members: &[String]) -> Answer {
    Answer::Xml(format!(
        "<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups>{}</AutoScalingGroups>\
         </DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>",
        members.concat()
    ))
}

/// One of them.
pub(crate) fn member(name: &str, [min, max, desired]: [u32; 3], machines: &[(&str, &str)], more: &str) -> String {
    let machines: String = machines.iter().map(|(id, state)| machine(id, state)).collect();
    format!(
        "<member><AutoScalingGroupName>{name}</AutoScalingGroupName><MinSize>{min}</MinSize><MaxSize>{max}</MaxSize>\
         <DesiredCapacity>{desired}</DesiredCapacity><AvailabilityZones><member>eu-west-1a</member>\
         </AvailabilityZones><Instances>{machines}</Instances>{more}</member>"
    )
}

fn machine(id: &str, state: &str) -> String {
    format!(
        "<member><InstanceId>{id}</InstanceId><AvailabilityZone>eu-west-1a</AvailabilityZone>\
         <LifecycleState>{state}</LifecycleState><HealthStatus>Healthy</HealthStatus></member>"
    )
}

/// The answer to an action of which nothing is read.
pub(crate) fn done(action: &str) -> Answer {
    Answer::Xml(format!("<{action}Response><ResponseMetadata/></{action}Response>"))
}

/// An answer that lists nothing.
pub(crate) fn nothing(action: &str) -> Answer {
    Answer::Xml(match action {
        "DescribeInstances" => "<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>".to_owned(),
        "DescribeAutoScalingGroups" => {
            format!("<{action}Response><{action}Result><AutoScalingGroups/></{action}Result></{action}Response>")
        }
        _ => format!("<{action}Response><{action}Result/></{action}Response>"),
    })
}

/// The parameters in a form.
pub(crate) fn form(body: &str) -> Parameters {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            let hex = (*first == b'%').then(|| after.get(..2)).flatten();
            let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
            bytes.push(byte.unwrap_or(*first));
            rest = if byte.is_some() { &after[2..] } else { after };
        }
        String::from_utf8(bytes).expect("text in UTF-8")
    };
    let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decode(name), decode(value))).collect()
}
