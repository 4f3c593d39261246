//! The objects, by collection and name.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Why a change is refused: the code and the reason of the API.
pub(super) type Refusal = (u16, &'static str);

#[derive(Default)]
pub(super) struct Store {
    objects: BTreeMap<(String, String), Value>,
    version: u64,
}

impl Store {
    pub(super) fn list(&self, collection: &str) -> Vec<Value> {
        let of_collection = self.objects.iter().filter(|((of, _), _)| of == collection);
        of_collection.map(|(_, object)| object.clone()).collect()
    }

    pub(super) fn get(&self, collection: &str, name: &str) -> Result<Value, Refusal> {
        self.objects.get(&(collection.to_owned(), name.to_owned())).cloned().ok_or((404, "NotFound"))
    }

    pub(super) fn create(&mut self, collection: &str, mut object: Value) -> Result<Value, Refusal> {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        if self.get(collection, &name).is_ok() {
            return Err((409, "AlreadyExists"));
        }
        object["metadata"]["uid"] = json!(format!("uid-{}", self.version + 1));
        object["metadata"]["creationTimestamp"] = json!(jiff::Timestamp::now().to_string());
        Ok(self.put(collection, name, object))
    }

    pub(super) fn replace(&mut self, collection: &str, name: &str, mut object: Value) -> Result<Value, Refusal> {
        let old = self.get(collection, name)?;
        let version = &object["metadata"]["resourceVersion"];
        if !version.is_null() && *version != old["metadata"]["resourceVersion"] {
            return Err((409, "Conflict"));
        }
        for kept in ["uid", "creationTimestamp"] {
            object["metadata"][kept] = old["metadata"][kept].clone();
        }
        Ok(self.put(collection, name.to_owned(), object))
    }

    pub(super) fn merge(&mut self, collection: &str, name: &str, patch: &Value) -> Result<Value, Refusal> {
        let mut object = self.get(collection, name)?;
        merge(&mut object, patch);
        self.replace(collection, name, object)
    }

    pub(super) fn delete(&mut self, collection: &str, name: &str) -> Result<Value, Refusal> {
        self.objects.remove(&(collection.to_owned(), name.to_owned())).ok_or((404, "NotFound"))
    }

    fn put(&mut self, collection: &str, name: String, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert((collection.to_owned(), name), object.clone());
        object
    }
}

/// RFC 7386.
fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, change) in changes {
        if change.is_null() {
            into.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut into[key.as_str()], change);
        }
    }
}
