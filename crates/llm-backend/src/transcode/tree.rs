//! A JSON value that grows with every delta.

use serde_json::value::RawValue;

use crate::json::Fields;

/// How deep deltas are put together; below, the last one counts. Tool arguments are four levels down.
const MAX_DEPTH: usize = 16;

/// A value, opened only as far as there was something to add to it.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    /// Any JSON text.
    Raw(String),
    /// What is between the quotes of a string, escapes and all: two strings joined are a string, and a surrogate pair that was
    /// split between two deltas is whole again.
    Text(String),
    List(Vec<Tree>),
    Map(Map),
}

/// The members of an object, in the order they were first seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Map(pub(super) Vec<(String, Tree)>);

/// How what comes later is added to what came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Pieces of a message: strings are joined, elements with an `index` are put together.
    Delta,
    /// What is said about a choice: of strings the last one counts.
    Choice,
}

// === impl Tree ===

impl Tree {
    pub(super) fn of(raw: &RawValue) -> Self {
        Self::Raw(raw.get().to_owned())
    }

    pub(super) fn null() -> Self {
        Self::Raw("null".to_owned())
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Raw(text) if text == "null")
    }

    /// Adds a delta to this value.
    fn add(&mut self, delta: &RawValue, rules: Rules, depth: usize) {
        let text = delta.get();
        if text == "null" {
            return;
        }
        if !self.is_null() && depth < MAX_DEPTH {
            self.open();
            match self {
                Self::Text(joined) => {
                    let more = inner(text).filter(|_| rules == Rules::Delta);
                    if let Some(more) = more {
                        return joined.push_str(more);
                    }
                }
                Self::List(items) => {
                    if let Ok(more) = serde_json::from_str::<Vec<&RawValue>>(text) {
                        let mut add = |item| add_item(items, item, rules, depth);
                        return more.into_iter().for_each(&mut add);
                    }
                }
                Self::Map(members) => {
                    if let Some(more) = Fields::of(delta) {
                        return members.add_all(&more, rules, depth + 1);
                    }
                }
                Self::Raw(_) => {}
            }
        }
        *self = Self::of(delta);
    }

    /// Opens a text by one level.
    fn open(&mut self) {
        let Self::Raw(text) = self else { return };
        let opened = match text.as_bytes().first() {
            Some(b'"') => inner(text).map(|text| Self::Text(text.to_owned())),
            Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text)
                .ok()
                .map(|items| Self::List(items.into_iter().map(Self::of).collect())),
            Some(b'{') => Fields::parse(text.as_bytes()).map(|fields| {
                let own = |(key, value): (std::borrow::Cow<'_, str>, &RawValue)| {
                    (key.into_owned(), Self::of(value))
                };
                Self::Map(Map(fields.0.into_iter().map(own).collect()))
            }),
            _ => None,
        };
        if let Some(opened) = opened {
            *self = opened;
        }
    }

    /// The value as an object. Null becomes an empty one; anything else is none.
    pub(super) fn as_map(&mut self) -> Option<&mut Map> {
        if self.is_null() {
            *self = Self::Map(Map::default());
        }
        self.open();
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The `index` of an opened element that has one.
    fn index(&self) -> Option<u64> {
        let Self::Map(members) = self else {
            return None;
        };
        match members.get("index")? {
            Self::Raw(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Sorts a list of tool calls by `index` and takes the indices out, as bodies have them.
    pub(super) fn settle_indices(&mut self) {
        self.open();
        let Self::List(items) = self else { return };
        items.iter_mut().for_each(Self::open);
        items.sort_by_key(Self::index);
        for item in items {
            if let Self::Map(members) = item {
                members.0.retain(|(key, _)| key != "index");
            }
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Raw(text) => out.extend_from_slice(text.as_bytes()),
            Self::Text(text) => {
                out.push(b'"');
                out.extend_from_slice(text.as_bytes());
                out.push(b'"');
            }
            Self::List(items) => {
                out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Map(members) => members.write(out),
        }
    }
}

// === impl Map ===

impl Map {
    pub(super) fn get(&self, name: &str) -> Option<&Tree> {
        self.0
            .iter()
            .find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The value of that name, null if it was not there.
    pub(super) fn entry(&mut self, name: &str) -> &mut Tree {
        let at = self
            .0
            .iter()
            .position(|(key, _)| key == name)
            .unwrap_or_else(|| {
                self.0.push((name.to_owned(), Tree::null()));
                self.0.len() - 1
            });
        &mut self.0.get_mut(at).expect("it was found or pushed above").1
    }

    pub(super) fn add_all(&mut self, delta: &Fields<'_>, rules: Rules, depth: usize) {
        for (key, value) in &delta.0 {
            self.add(key, value, rules, depth);
        }
    }

    /// Adds one member of a delta.
    pub(super) fn add(&mut self, key: &str, delta: &RawValue, rules: Rules, depth: usize) {
        let text = delta.get();
        let is_string = text.starts_with('"');
        let value = self.entry(key);
        match (key, value) {
            ("role" | "id" | "type" | "format", value) if is_string => {
                // An empty one was not said yet.
                if value.is_null() || matches!(value, Tree::Raw(text) if text == "\"\"") {
                    *value = Tree::of(delta);
                }
            }
            ("name", Tree::Raw(before)) if before == text => {}
            (_, value) => value.add(delta, rules, depth),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (i, (key, value)) in self.0.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            crate::json::push_string(out, key);
            out.push(b':');
            value.write(out);
        }
        out.push(b'}');
    }
}

/// Adds an element to a list: to the element of the same `index`, if it has one; otherwise at the end.
fn add_item(items: &mut Vec<Tree>, item: &RawValue, rules: Rules, depth: usize) {
    let fields = if rules == Rules::Delta {
        Fields::of(item)
    } else {
        None
    };
    let index = fields.as_ref().and_then(|fields| fields.integer("index"));
    if let (Some(fields), Some(_)) = (fields, index) {
        items.iter_mut().for_each(Tree::open);
        if let Some(Tree::Map(same)) = items.iter_mut().find(|item| item.index() == index) {
            return same.add_all(&fields, rules, depth + 2);
        }
    }
    items.push(Tree::of(item));
}

/// What is between the quotes of a string.
fn inner(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"')
}
