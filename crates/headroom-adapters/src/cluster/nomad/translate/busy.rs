//! How busy the cpus of a server are.

use headroom_core::policy::Percent;

use crate::cluster::nomad::object::ClientStats;

/// The mean busy share of all cores of a machine. What cannot be one is not known.
pub fn busy(stats: &ClientStats) -> Option<Percent> {
    let idle: Vec<f64> = stats.cpu.iter().flatten().filter_map(|core| core.idle).collect();
    let cores = stats.cpu.as_ref().map_or(0, Vec::len);
    if idle.is_empty() || idle.len() < cores || idle.iter().any(|idle| !idle.is_finite()) {
        return None;
    }
    let sum: f64 = idle.iter().map(|idle| 100.0 - idle.clamp(0.0, 100.0)).sum();
    #[allow(clippy::cast_precision_loss, reason = "no machine has so many cores")]
    let mean = sum / idle.len() as f64;
    Some(percent(mean))
}

/// As hundredths of a percent; what is beyond 0 or 100 is 0 or 100.
pub(in crate::cluster::nomad) fn percent(share: f64) -> Percent {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 10,000 by now")]
    let hundredths = (share.clamp(0.0, 100.0) * 100.0).round() as u32;
    Percent(hundredths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<u32> {
        busy(&serde_json::from_str(json).unwrap()).map(|busy| busy.0)
    }

    #[test]
    fn it_is_the_mean_over_all_cores() {
        assert_eq!(read(r#"{"CPU":[{"Idle":56.44},{"Idle":53.54}]}"#), Some(4501));
        assert_eq!(read(r#"{"CPU":[{"Idle":100.2}]}"#), Some(0));
    }

    #[test]
    fn no_data_is_not_no_load() {
        for json in [r#"{"CPU":null}"#, r#"{"CPU":[]}"#, r#"{"CPU":[{"Idle":50.0},{}]}"#, "{}"] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
