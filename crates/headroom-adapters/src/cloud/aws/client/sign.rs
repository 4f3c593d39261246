//! Requests as AWS takes them: a form, signed by Signature Version 4.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningParams, SigningSettings, sign};
use aws_sigv4::sign::v4;
use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use super::Call;
use super::failure::AwsError;

/// The request of a call, and its body, which the signature covers.
pub(super) fn request(
    call: &Call,
    endpoint: &str,
    region: &str,
    credentials: &Credentials,
) -> Result<(reqwest::Request, Bytes), AwsError> {
    let wrong = |source: Box<dyn std::error::Error + Send + Sync>| AwsError::Transport { action: call.right(), source };
    let service = call.service;
    let named = [("Action", call.action), ("Version", service.version())].into_iter();
    let given = call.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let form: Vec<(&str, &str)> = named.chain(given).collect();
    // The connections are those of the client that sends it; this one only puts the form together.
    let built = reqwest::Client::new().post(endpoint).form(&form).build();
    let mut request = built.map_err(|error| wrong(Box::new(error)))?;
    let body = request.body().and_then(reqwest::Body::as_bytes).map(Bytes::copy_from_slice).unwrap_or_default();
    let identity = credentials.clone().into();
    let parameters: SigningParams<'_> = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service.name())
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| wrong(Box::new(error)))?
        .into();
    let headers = request.headers().iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    let signable = SignableRequest::new("POST", request.url().as_str(), headers, SignableBody::Bytes(&body));
    let signed = signable.and_then(|signable| sign(signable, &parameters)).map_err(|error| wrong(Box::new(error)))?;
    let (instructions, _) = signed.into_parts();
    let headers: Vec<(String, String)> =
        instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    for (name, value) in headers {
        let name = HeaderName::try_from(name).map_err(|error| wrong(Box::new(error)))?;
        let mut value = HeaderValue::try_from(value).map_err(|error| wrong(Box::new(error)))?;
        value.set_sensitive(true);
        request.headers_mut().insert(name, value);
    }
    Ok((request, body))
}
