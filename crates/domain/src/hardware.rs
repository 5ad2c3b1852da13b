//! Amounts of hardware that applications need and nodes have.

use std::fmt;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// A kind of hardware. The list is fixed, so that a name means the same to owners of nodes and of applications.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HardwareKind {
    /// Abstract units, the first kind: the amount in `service/4` and `node/2`. An amount of hardware written as a plain
    /// number is in units.
    Units,
    /// Bandwidth to the network, in megabits per second.
    BandwidthMbps,
    /// Graphics processors.
    Gpu,
    /// Memory, in megabytes.
    MemoryMb,
    /// Storage, in gigabytes.
    StorageGb,
}

impl HardwareKind {
    /// All kinds, in the order in which they are checked and shown: units, then the others by name.
    pub const ALL: [HardwareKind; 5] = [
        HardwareKind::Units,
        HardwareKind::BandwidthMbps,
        HardwareKind::Gpu,
        HardwareKind::MemoryMb,
        HardwareKind::StorageGb,
    ];

    /// The number of kinds other than units.
    const FURTHER: usize = HardwareKind::ALL.len() - 1;

    /// The name of the kind in policies, scenarios, traces and on screen.
    pub const fn as_str(self) -> &'static str {
        match self {
            HardwareKind::Units => "units",
            HardwareKind::BandwidthMbps => "bandwidth_mbps",
            HardwareKind::Gpu => "gpu",
            HardwareKind::MemoryMb => "memory_mb",
            HardwareKind::StorageGb => "storage_gb",
        }
    }

    /// The kind with this name; `None` if there is no such kind.
    pub fn with_name(name: &str) -> Option<HardwareKind> {
        HardwareKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for HardwareKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// An amount of hardware: units, and amounts of other kinds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Hardware {
    units: u64,
    /// The amounts of the other kinds, in the order of [`HardwareKind::ALL`]. Usually all zeros.
    further: [u32; HardwareKind::FURTHER],
}

/// The hardware that a node has, or has free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Capacity {
    /// A limited amount.
    Bounded(Hardware),
    /// Unlimited, as in the cloud.
    Unbounded,
}

impl Hardware {
    /// No hardware.
    pub const NONE: Hardware = Hardware::units(0);

    /// Units only.
    pub const fn units(units: u64) -> Hardware {
        Hardware { units, further: [0; HardwareKind::FURTHER] }
    }

    /// The number of units.
    pub const fn as_units(self) -> u64 {
        self.units
    }

    /// The amount of one kind.
    pub fn of(self, kind: HardwareKind) -> u64 {
        match kind {
            HardwareKind::Units => self.units,
            kind => u64::from(self.further[kind as usize - 1]),
        }
    }

    /// The same hardware with the amount of one kind replaced; `None` if the amount of a kind other than units does not
    /// fit in 32 bits.
    #[must_use]
    pub fn with(mut self, kind: HardwareKind, amount: u64) -> Option<Hardware> {
        match kind {
            HardwareKind::Units => self.units = amount,
            kind => self.further[kind as usize - 1] = u32::try_from(amount).ok()?,
        }
        Some(self)
    }

    /// Whether any kind other than units is present.
    pub fn has_further(self) -> bool {
        self.further != [0; HardwareKind::FURTHER]
    }

    /// The kinds with their amounts: always units, and other kinds with a non-zero amount.
    pub fn amounts(self) -> impl Iterator<Item = (HardwareKind, u64)> {
        let named = move |kind: &HardwareKind| *kind == HardwareKind::Units || self.of(*kind) > 0;
        HardwareKind::ALL.into_iter().filter(named).map(move |kind| (kind, self.of(kind)))
    }

    /// Whether `capacity` has at least this amount of every kind.
    #[inline]
    pub fn fits(self, capacity: Capacity) -> bool {
        match capacity {
            Capacity::Bounded(available) => {
                self.units <= available.units
                    && self.further.iter().zip(available.further).all(|(needed, available)| *needed <= available)
            }
            Capacity::Unbounded => true,
        }
    }

    /// The first kind of which `capacity` has less than this amount; `None` if this amount fits.
    pub fn lacking(self, capacity: Capacity) -> Option<HardwareKind> {
        let Capacity::Bounded(available) = capacity else { return None };
        HardwareKind::ALL.into_iter().find(|kind| self.of(*kind) > available.of(*kind))
    }

    /// The sum; `None` on overflow.
    #[must_use]
    #[inline]
    pub fn checked_add(self, other: Hardware) -> Option<Hardware> {
        self.each(other, u64::checked_add, u32::checked_add)
    }

    /// The difference `self - other`; `None` if it would be negative for any kind.
    #[must_use]
    #[inline]
    pub fn checked_sub(self, other: Hardware) -> Option<Hardware> {
        self.each(other, u64::checked_sub, u32::checked_sub)
    }

    /// The sum; each kind saturates at its largest number.
    #[must_use]
    pub fn saturating_add(self, other: Hardware) -> Hardware {
        self.each(other, |a, b| Some(a.saturating_add(b)), |a, b| Some(a.saturating_add(b))).unwrap_or(self)
    }

    /// The difference `self - other`; each kind saturates at zero.
    #[must_use]
    pub fn saturating_sub(self, other: Hardware) -> Hardware {
        self.each(other, |a, b| Some(a.saturating_sub(b)), |a, b| Some(a.saturating_sub(b))).unwrap_or(self)
    }

    #[inline]
    fn each(
        self,
        other: Hardware,
        units: impl Fn(u64, u64) -> Option<u64>,
        further: impl Fn(u32, u32) -> Option<u32>,
    ) -> Option<Hardware> {
        let mut sum = Hardware::units(units(self.units, other.units)?);
        for (kind, amount) in sum.further.iter_mut().enumerate() {
            *amount = further(self.further[kind], other.further[kind])?;
        }
        Some(sum)
    }
}

impl Capacity {
    /// A capacity of this number of units.
    pub const fn units(units: u64) -> Capacity {
        Capacity::Bounded(Hardware::units(units))
    }

    /// Whether the capacity is bounded and has any kind other than units.
    pub fn has_further(self) -> bool {
        matches!(self, Capacity::Bounded(hardware) if hardware.has_further())
    }

    /// The capacity that remains after `taken` is allocated; `None` if it does not fit.
    #[must_use]
    #[inline]
    pub fn take(self, taken: Hardware) -> Option<Capacity> {
        match self {
            Capacity::Bounded(available) => available.checked_sub(taken).map(Capacity::Bounded),
            Capacity::Unbounded => Some(Capacity::Unbounded),
        }
    }

    /// The capacity after `given` is released; `None` on overflow.
    #[must_use]
    pub fn give_back(self, given: Hardware) -> Option<Capacity> {
        match self {
            Capacity::Bounded(available) => available.checked_add(given).map(Capacity::Bounded),
            Capacity::Unbounded => Some(Capacity::Unbounded),
        }
    }
}

impl fmt::Display for Hardware {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.units)?;
        for (kind, amount) in self.amounts().skip(1) {
            write!(formatter, " and {amount} {kind}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Bounded(hardware) => hardware.fmt(formatter),
            Capacity::Unbounded => formatter.write_str("unbounded"),
        }
    }
}

impl Serialize for Hardware {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return (self.units, self.further).serialize(serializer);
        }
        if !self.has_further() {
            return serializer.serialize_u64(self.units);
        }
        serializer.collect_map(self.amounts().map(|(kind, amount)| (kind.as_str(), amount)))
    }
}

impl<'de> Deserialize<'de> for Hardware {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hardware, D::Error> {
        if !deserializer.is_human_readable() {
            let (units, further) = Deserialize::deserialize(deserializer)?;
            return Ok(Hardware { units, further });
        }
        deserializer.deserialize_any(HardwareVisitor)
    }
}

struct HardwareVisitor;

impl<'de> Visitor<'de> for HardwareVisitor {
    type Value = Hardware;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("hardware: a number of units that is not negative, or a table of kinds")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Hardware, E> {
        Ok(Hardware::units(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Hardware, E> {
        u64::try_from(value).map(Hardware::units).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Hardware, A::Error> {
        read_kinds(map)
    }
}

/// Reads a table of amounts by kind. An unknown or repeated kind is an error.
fn read_kinds<'de, A: MapAccess<'de>>(mut map: A) -> Result<Hardware, A::Error> {
    let mut hardware = Hardware::NONE;
    let mut seen = Vec::new();
    while let Some((name, amount)) = map.next_entry::<String, i64>()? {
        let kind = HardwareKind::with_name(&name).ok_or_else(|| {
            let known: Vec<&str> = HardwareKind::ALL.iter().map(|kind| kind.as_str()).collect();
            de::Error::custom(format!("there is no hardware of the kind `{name}`: known are {}", known.join(", ")))
        })?;
        if seen.contains(&kind) {
            return Err(de::Error::custom(format!("`{name}` is there twice")));
        }
        seen.push(kind);
        let counted = u64::try_from(amount).ok().and_then(|amount| hardware.with(kind, amount));
        hardware = counted.ok_or_else(|| {
            de::Error::custom(format!("`{name}` is a whole number from 0 to {}, and not {amount}", most(kind)))
        })?;
    }
    Ok(hardware)
}

fn most(kind: HardwareKind) -> u64 {
    if kind == HardwareKind::Units { u64::MAX } else { u64::from(u32::MAX) }
}

impl Serialize for Capacity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            let bound = match self {
                Capacity::Bounded(hardware) => Some(hardware),
                Capacity::Unbounded => None,
            };
            return bound.serialize(serializer);
        }
        match self {
            Capacity::Bounded(hardware) => hardware.serialize(serializer),
            Capacity::Unbounded => serializer.serialize_str("unbounded"),
        }
    }
}

impl<'de> Deserialize<'de> for Capacity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Capacity, D::Error> {
        if !deserializer.is_human_readable() {
            let bound = Option::<Hardware>::deserialize(deserializer)?;
            return Ok(bound.map_or(Capacity::Unbounded, Capacity::Bounded));
        }
        deserializer.deserialize_any(CapacityVisitor)
    }
}

struct CapacityVisitor;

impl<'de> Visitor<'de> for CapacityVisitor {
    type Value = Capacity;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a capacity: a number of units that is not negative, a table of kinds, or \"unbounded\"")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Capacity, E> {
        Ok(Capacity::units(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Capacity, E> {
        u64::try_from(value).map(Capacity::units).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Capacity, E> {
        if value == "unbounded" {
            Ok(Capacity::Unbounded)
        } else {
            Err(E::invalid_value(de::Unexpected::Str(value), &self))
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Capacity, A::Error> {
        read_kinds(map).map(Capacity::Bounded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_units_or_unbounded_in_json() {
        for (json, capacity) in [("9", Capacity::units(9)), ("\"unbounded\"", Capacity::Unbounded)] {
            assert_eq!(serde_json::from_str::<Capacity>(json).expect("a capacity"), capacity);
            assert_eq!(serde_json::to_string(&capacity).expect("a capacity"), json);
            let mut memory = [0; 64];
            let bytes = postcard::to_slice(&capacity, &mut memory).expect("plain data");
            assert_eq!(postcard::from_bytes::<Capacity>(bytes).expect("the same"), capacity);
        }
        for json in ["-1", "1.5", "\"infinite\"", "null"] {
            let error = serde_json::from_str::<Capacity>(json).expect_err("not a capacity").to_string();
            assert!(error.contains("unbounded"), "{json}: {error}");
        }
    }

    #[test]
    fn take_fails_if_the_capacity_is_too_small() {
        let nine = Capacity::units(9);
        assert_eq!(nine.take(Hardware::units(9)), Some(Capacity::units(0)));
        assert_eq!(nine.take(Hardware::units(10)), None);
        assert!(!Hardware::units(10).fits(nine));
        assert!(Hardware::units(u64::MAX).fits(Capacity::Unbounded));
        assert_eq!(Capacity::Unbounded.take(Hardware::units(1)), Some(Capacity::Unbounded));
        assert_eq!(nine.give_back(Hardware::units(u64::MAX)), None);
    }

    #[test]
    fn other_kinds_are_named_in_json_and_checked_separately() {
        let json = r#"{"units":4,"gpu":1,"memory_mb":2048}"#;
        let hardware: Hardware = serde_json::from_str(json).expect("hardware");
        assert_eq!(serde_json::to_string(&hardware).expect("hardware"), json);
        assert_eq!(serde_json::from_str::<Capacity>(json).expect("a capacity"), Capacity::Bounded(hardware));
        assert_eq!(hardware.to_string(), "4 and 1 gpu and 2048 memory_mb");
        let mut memory = [0; 64];
        let bytes = postcard::to_slice(&hardware, &mut memory).expect("plain data");
        assert_eq!(postcard::from_bytes::<Hardware>(bytes).expect("the same"), hardware);
        let less = hardware.with(HardwareKind::MemoryMb, 2_047).expect("counted");
        assert!(less.fits(Capacity::Bounded(hardware)) && !hardware.fits(Capacity::Bounded(less)));
        assert_eq!(hardware.lacking(Capacity::Bounded(less)), Some(HardwareKind::MemoryMb));
        assert_eq!(hardware.lacking(Capacity::units(3)), Some(HardwareKind::Units), "units are judged first");
        assert_eq!(hardware.lacking(Capacity::Unbounded), None);
        assert_eq!(Capacity::Bounded(hardware).take(less), Some(Capacity::Bounded(one_mb())));
        assert_eq!(Capacity::Bounded(less).take(hardware), None);
        assert_eq!(Capacity::Bounded(less).give_back(one_mb()), Some(Capacity::Bounded(hardware)));
    }

    fn one_mb() -> Hardware {
        Hardware::NONE.with(HardwareKind::MemoryMb, 1).expect("counted")
    }

    #[test]
    fn refuses_unknown_repeated_and_excessive_kinds() {
        for (json, expected) in [
            (r#"{"units":1,"cores":2}"#, "no hardware of the kind `cores`"),
            (r#"{"gpu":1,"gpu":2}"#, "`gpu` is there twice"),
            (r#"{"memory_mb":-1}"#, "`memory_mb` is a whole number"),
            (r#"{"memory_mb":4294967296}"#, "`memory_mb` is a whole number"),
        ] {
            for error in [
                serde_json::from_str::<Hardware>(json).expect_err(json).to_string(),
                serde_json::from_str::<Capacity>(json).expect_err(json).to_string(),
            ] {
                assert!(error.contains(expected), "{json}: {error}");
            }
        }
    }
}
