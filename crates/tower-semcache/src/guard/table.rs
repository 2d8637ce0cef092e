//! How the data files are read: lines, sections, lists.

/// The lines of a file that hold something: without comments and blank lines.
pub(super) fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Every item of every `[section]`, with the name of its section.
pub(super) fn sections(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut section = "";
    lines(file).flat_map(move |line| {
        let name = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'));
        section = name.unwrap_or(section);
        let rest = if name.is_some() { "" } else { line };
        let section = section;
        items(rest).map(move |item| (section, item))
    })
}

/// The items of a list, separated by commas.
pub(super) fn items(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}
